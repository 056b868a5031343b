import { describe, expect } from 'vitest';
import { test } from '../../support/fixtures.ts';
import { givenAttendees, givenEvent, unknownId } from '../requests.ts';
import { checkinPath, scanOf, send, undoOf } from './door-scans.ts';

const at = (id: string) => `${checkinPath(id)}/summary`;
const hour = 3_600;

describe('200', () => {
  test('counts who is inside, and the scans that changed something by gate and hour', async ({ acme }) => {
    const { id } = await givenEvent(acme);
    await givenAttendees(acme, id, 'ann', 'bob', 'cid', 'dan');
    expect((await acme.get(at(id)).expect(200)).body).toEqual({
      inside: 0,
      admitted: 0,
      registered: 4,
      gates: [],
      hours: [],
    });
    const undone = scanOf('dan', 2 * hour, { gate: 'North' });
    const whole = new Date(Math.floor(Date.now() / (hour * 1_000)) * hour * 1_000);
    const early = new Date(whole.getTime() - 2 * hour * 1_000);
    const at5 = new Date(early.getTime() + 300_000).toISOString();
    const at10 = new Date(early.getTime() + 600_000).toISOString();
    const at70 = new Date(early.getTime() + 70 * 60_000).toISOString();
    const scans = [
      scanOf('ann', 0, { at: at5, gate: 'North' }),
      scanOf('ann', 0, { at: at10, gate: 'South' }),
      scanOf('ann', 0, { at: at70, gate: 'North', kind: 'exit' }),
      scanOf('bob', 0, { at: at10, gate: 'North' }),
      scanOf('bob', 0, { at: at5, gate: 'South', kind: 'exit' }),
      scanOf('cid', 0, { at: at70 }),
      undone,
      undoOf(undone.scanId),
    ];
    await send(acme, id, ...scans);
    expect((await acme.get(at(id)).expect(200)).body).toEqual({
      inside: 2,
      admitted: 3,
      registered: 4,
      gates: [
        { gate: 'North', entries: 2, exits: 1 },
        { gate: null, entries: 1, exits: 0 },
      ],
      hours: [
        { hour: early.toISOString(), entries: 2, exits: 0 },
        { hour: new Date(early.getTime() + hour * 1_000).toISOString(), entries: 1, exits: 1 },
      ],
    });
  });

  test('has the 100 gates with the most scans', async ({ acme }) => {
    const { id } = await givenEvent(acme);
    await givenAttendees(acme, id, 'ann');
    const passages = Array.from({ length: 102 }, (_, index) =>
      scanOf('ann', 1_000 - index, { gate: `gate ${index}`, kind: index % 2 === 0 ? 'entry' : 'exit' }),
    );
    await send(acme, id, ...passages, scanOf('ann', 10, { gate: 'gate 101' }));
    const { gates, inside } = (await acme.get(at(id)).expect(200)).body;
    expect([gates.length, gates[0], inside]).toEqual([100, { gate: 'gate 101', entries: 1, exits: 1 }, 1]);
  });
});

describe('404', () => {
  test('is a problem of an event of another company, and of none', async ({ acme, globex }) => {
    const { id } = await givenEvent(acme);
    for (const path of [at(id), at(unknownId)])
      expect((await globex.get(path).expect(404)).body.code).toBe('event_not_found');
  });
});
