import { randomUUID } from 'node:crypto';
import { describe, expect } from 'vitest';
import { createTickets } from '../../../src/events/checkin/tickets.ts';
import { test } from '../../support/fixtures.ts';
import { eventPath, givenAttendees, givenEvent } from '../requests.ts';
import { ago, attendeesOf, checkinPath, scanOf, send, statusesOf, undoOf } from './door-scans.ts';

const ticketOf = '/attendees/ann/ticket';

describe('200: scans with a time', () => {
  test('admit at the earliest entry, whichever arrives first, and show its gate', async ({ acme, db }) => {
    const { id } = await givenEvent(acme);
    await givenAttendees(acme, id, 'ann');
    const late = scanOf('ann', 60, { gate: 'South' });
    const early = scanOf('ann', 600, { gate: '  North ' });
    const [first] = await send(acme, id, late);
    expect(first).toMatchObject({ status: 'admitted', checkedInAt: late.at, checkedInGate: 'South' });
    expect(await send(acme, id, late, early)).toMatchObject([
      { status: 'already_admitted', checkedInAt: early.at, checkedInGate: 'North', inside: true },
      { status: 'admitted', scanId: early.scanId, checkedInAt: early.at, inside: true },
    ]);
    expect((await attendeesOf(acme, id)).get('ann')).toMatchObject({ checkedInAt: early.at, inside: true });
    const entries = await db('audit_log')
      .where({ subject: id })
      .whereLike('action', '%checkin%')
      .orderBy('id');
    expect(entries.map(({ action, details }) => [action, details])).toEqual([
      ['attendee.checkin', { attendeeId: 'ann' }],
      ['attendee.checkin_corrected', { attendeeId: 'ann' }],
    ]);
  });

  test('say who is inside, and admit again after an exit', async ({ acme }) => {
    const { id } = await givenEvent(acme);
    await givenAttendees(acme, id, 'ann', 'bob');
    const scans = [
      scanOf('ann', 50, { kind: 'exit' }),
      scanOf('ann', 40),
      scanOf('ann', 30, { kind: 'exit' }),
      scanOf('ann', 20, { kind: 'entry' }),
      scanOf('ann', 10, { kind: 'exit' }),
      scanOf('bob', 10),
    ];
    expect(await statusesOf(acme, id, ...scans)).toEqual([
      ...['not_inside', 'admitted', 'exited', 'admitted', 'exited', 'admitted'],
    ]);
    const seen = await attendeesOf(acme, id);
    expect([seen.get('ann')?.inside, seen.get('bob')?.inside]).toEqual([false, true]);
    // Who means now comes in again.
    expect(await send(acme, id, { attendeeId: 'ann' })).toMatchObject([{ status: 'admitted', inside: true }]);
  });

  test('are taken back before and after they arrive, and then admit nobody', async ({ acme, db }) => {
    const { id } = await givenEvent(acme);
    await givenAttendees(acme, id, 'ann', 'bob');
    const [ann, bob] = [scanOf('ann', 60), scanOf('bob', 60)];
    const [undoAnn, undoBob] = [undoOf(ann.scanId.toUpperCase()), undoOf(bob.scanId)];
    expect(await send(acme, id, undoAnn)).toMatchObject([{ status: 'undone', attendeeId: null }]);
    expect(await send(acme, id, bob)).toMatchObject([{ status: 'admitted' }]);
    expect(await send(acme, id, undoBob)).toMatchObject([
      { status: 'undone', attendeeId: 'bob', by: null, checkedInAt: null, inside: false },
    ]);
    expect(await send(acme, id, ann)).toMatchObject([{ status: 'undone', checkedInAt: null }]);
    const seen = await attendeesOf(acme, id);
    for (const user of ['ann', 'bob'])
      expect(seen.get(user)).toMatchObject({ checkedInAt: null, inside: null });
    const of = { ann: undoAnn.scanId, bob: undoBob.scanId };
    const undos = await db('checkin_scans').where({ event_id: id, kind: 'undo' }).orderBy('attendee_id');
    expect(undos.map(({ attendee_id, scan_id }) => [attendee_id, scan_id])).toEqual(Object.entries(of));
  });

  test('are admitted again by a new scan, and by who means now', async ({ acme }) => {
    const { id } = await givenEvent(acme);
    await givenAttendees(acme, id, 'ann');
    const [now] = await send(acme, id, { attendeeId: 'ann', gate: 'North' });
    expect(now).toMatchObject({ status: 'admitted', checkedInGate: 'North' });
    expect(await statusesOf(acme, id, undoOf(now?.scanId ?? ''))).toEqual(['undone']);
    expect(await statusesOf(acme, id, { attendeeId: 'ann' }, { attendeeId: 'ann' })).toEqual([
      ...['admitted', 'already_admitted'],
    ]);
  });

  test('have faults of rules as results, which affect no other scan', async ({ acme }) => {
    const { id } = await givenEvent(acme);
    await givenAttendees(acme, id, 'ann', 'bob');
    const entry = scanOf('ann', 60);
    const undo = undoOf(entry.scanId);
    const results = await send(
      acme,
      id,
      entry,
      { ...entry, at: ago(50) },
      { ...entry, attendeeId: 'bob' },
      scanOf('ann', 7 * 86_400 + 60),
      scanOf('ann', -120),
      scanOf('nobody', 60),
      undo,
      undoOf(undo.scanId),
      scanOf('bob', 60),
    );
    expect(results.map(({ status }) => status)).toEqual([
      ...['undone', 'scan_id_reused', 'scan_id_reused', 'at_out_of_range', 'at_out_of_range', 'unknown'],
      ...['undone', 'undo_of_undo', 'admitted'],
    ]);
  });

  test('beyond 200 of a registration are too_many_scans', async ({ acme }) => {
    const { id } = await givenEvent(acme);
    await givenAttendees(acme, id, 'ann', 'bob');
    const scans = Array.from({ length: 200 }, (_, index) => scanOf('ann', 3_600 - index));
    await send(acme, id, ...scans);
    const more = [scanOf('ann', 30), scanOf('ann', 20, { kind: 'exit' }), scanOf('bob', 30), scans[0] ?? {}];
    expect(await statusesOf(acme, id, ...more)).toEqual([
      ...['too_many_scans', 'too_many_scans', 'admitted', 'admitted'],
    ]);
  });

  test('of a ticket are judged at their time: one that has expired since admits', async ({
    acme,
    service,
  }) => {
    const { id } = await givenEvent(acme);
    await givenAttendees(acme, id, 'ann');
    const { ticketId } = (await acme.get(`${eventPath}/${id}${ticketOf}`).expect(200)).body;
    const expiresAt = new Date(Math.floor(Date.now() / 1_000 - 3_600) * 1_000);
    const { sign } = createTickets(service.parts.config.SECRET_KEYS);
    const ticket = await sign({ eventId: id, attendeeId: 'ann', ticketId, expiresAt, label: null });
    const scans = [
      { ticket },
      { ticket, scanId: randomUUID(), at: ago(3_000) },
      { ticket, scanId: randomUUID(), at: ago(4_000) },
    ];
    expect(await statusesOf(acme, id, ...scans)).toEqual(['unknown', 'unknown', 'admitted']);
  });

  test('by a user id need an event that takes user ids', async ({ acme }) => {
    const { id } = await givenEvent(acme, { ticketsOnly: true });
    await givenAttendees(acme, id, 'ann');
    const { ticket } = (await acme.get(`${eventPath}/${id}${ticketOf}`).expect(200)).body;
    const scans = [scanOf('ann', 60), { ticket, scanId: randomUUID(), at: ago(50) }];
    expect(await statusesOf(acme, id, ...scans)).toEqual(['ticket_required', 'admitted']);
  });

  test('keep their time to the millisecond, with any offset', async ({ acme }) => {
    const { id } = await givenEvent(acme);
    await givenAttendees(acme, id, 'ann');
    const time = Math.floor(Date.now() / 1_000) * 1_000 - 60_000;
    const local = new Date(time + 2 * 3_600_000).toISOString().replace('.000Z', '.123999+02:00');
    expect(await send(acme, id, { attendeeId: 'ann', scanId: randomUUID(), at: local })).toMatchObject([
      { status: 'admitted', checkedInAt: new Date(time + 123).toISOString() },
    ]);
  });

  test('and sentAt get the skew of the clock', async ({ acme }) => {
    const { id } = await givenEvent(acme);
    const scans = [{ attendeeId: 'ann' }];
    const sent = (seconds: number) => ({ scans, sentAt: ago(-seconds) });
    const post = async (body: object) => (await acme.post(checkinPath(id)).send(body).expect(200)).body;
    const { clockSkew } = await post(sent(3_600));
    expect(clockSkew).toBeGreaterThan(3_500);
    expect(clockSkew).toBeLessThanOrEqual(3_600);
    expect((await post(sent(-86_400))).clockSkew).toBeLessThanOrEqual(-86_400);
    expect((await post({ scans })).clockSkew).toBeNull();
  });

  test('go with their attendee and with their event', async ({ acme, db }) => {
    const { id } = await givenEvent(acme);
    await givenAttendees(acme, id, 'ann', 'bob');
    const entry = scanOf('ann', 60);
    await send(acme, id, entry, undoOf(entry.scanId), scanOf('bob', 60), undoOf(randomUUID()));
    await acme.delete(`${eventPath}/${id}/attendees/ann`).expect(204);
    expect(await db('checkin_scans').where({ event_id: id })).toHaveLength(2);
    await givenAttendees(acme, id, 'ann');
    expect(await send(acme, id, entry)).toMatchObject([{ status: 'admitted' }]);
    await acme.delete(`${eventPath}/${id}`).expect(204);
    expect(await db('checkin_scans').where({ event_id: id })).toEqual([]);
  });
});

describe('400: faults of form, and nothing is kept', () => {
  const scanId = '6f0b8f5e-3f0a-4a52-9a3e-2f4f6f4c1d01';
  const at = '2027-05-04T09:00:00Z';
  const stamp = { scanId, at };
  const timeForm =
    'must be an RFC 3339 date-time with offset that the calendar has, such as 2027-05-04T09:00:00Z';
  test.for([
    ['a time without an id', { attendeeId: 'ann', at }, '', 'must have scanId and at, or neither of them'],
    [
      'an id without a time',
      { attendeeId: 'ann', scanId },
      '',
      'must have scanId and at, or neither of them',
    ],
    ['an exit now', { attendeeId: 'ann', kind: 'exit' }, '', 'must have scanId and at, since it is an exit'],
    ['an undo now', { kind: 'undo', undoes: scanId }, '', 'must have scanId and at, since it is an undo'],
    ['an undo of nothing', { kind: 'undo', ...stamp }, '/undoes', 'is required for an undo'],
    [
      'an undo with a text',
      { kind: 'undo', undoes: scanId, attendeeId: 'ann', ...stamp },
      '',
      'must have neither ticket nor attendeeId, since it is an undo',
    ],
    ['an exit of nobody', { kind: 'exit', ...stamp }, '', 'must have either ticket or attendeeId'],
    [
      'undoes of an entry',
      { attendeeId: 'ann', undoes: scanId, ...stamp },
      '/undoes',
      'must be absent, except for an undo',
    ],
    ['a blank gate', { attendeeId: 'ann', gate: ' \t' }, '/gate', 'must not be empty'],
    [
      'a time before the year 1',
      { attendeeId: 'ann', scanId, at: '0001-01-01T00:00:00+01:00' },
      '/at',
      timeForm,
    ],
  ] as const)('rejects %s', async ([_what, scan, field, words], { acme, db }) => {
    const { id } = await givenEvent(acme);
    await givenAttendees(acme, id, 'ann');
    const rejected = await acme
      .post(checkinPath(id))
      .send({ scans: [{ attendeeId: 'ann' }, scan] })
      .expect(400);
    const message = `scans/1${field} ${words}`;
    expect(rejected.body).toMatchObject({
      code: 'input_invalid',
      errors: [{ pointer: `/scans/1${field}`, message }],
    });
    expect(await db('checkin_scans').where({ event_id: id })).toEqual([]);
  });

  test.for([
    [{ attendeeId: 'ann', scanId: 'x', at }, '/scans/0/scanId'],
    [{ attendeeId: 'ann', kind: 'pause', ...stamp }, '/scans/0/kind'],
    [{ attendeeId: 'ann', gate: 'x'.repeat(65) }, '/scans/0/gate'],
    [{ attendeeId: 'ann', scanId, at: '2027-02-29T09:00:00Z' }, '/scans/0/at'],
    [{ attendeeId: 'ann', scanId, at: '2027-02-28' }, '/scans/0/at'],
  ] as const)('rejects %j', async ([scan, pointer], { acme }) => {
    const { id } = await givenEvent(acme);
    const rejected = await acme
      .post(checkinPath(id))
      .send({ scans: [scan] })
      .expect(400);
    expect(rejected.body).toMatchObject({ code: 'input_invalid', errors: [{ pointer }] });
  });

  test.for([
    [{ items: ['a'], sentAt: at }, 'sentAt must be absent where there are items'],
    [{ scans: [{ attendeeId: 'a' }], sentAt: '0001-01-01T00:00:00+01:00' }, `sentAt ${timeForm}`],
  ] as const)('rejects %j', async ([body, message], { acme }) => {
    const { id } = await givenEvent(acme);
    const rejected = await acme.post(checkinPath(id)).send(body).expect(400);
    expect(rejected.body.errors).toMatchObject([{ pointer: '/sentAt', message }]);
  });
});
