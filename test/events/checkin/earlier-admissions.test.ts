import { describe, expect } from 'vitest';
import { up } from '../../../migrations/0081_scans_of_admissions.ts';
import { test } from '../../support/fixtures.ts';
import { givenAttendees, givenEvent } from '../requests.ts';
import { attendeesOf, checkinPath, scanOf, send, undoOf } from './door-scans.ts';

// What release 0.2.0 does when it admits: it knows no scans.
const admitSql = `UPDATE attendees SET checked_in_at = statement_timestamp()
  WHERE event_id = ? AND attendee_id = ? AND checked_in_at IS NULL`;

describe('an admission by release 0.2.0', () => {
  test('while it runs on this schema is a scan like others, which can be undone', async ({ acme, db }) => {
    const { id } = await givenEvent(acme);
    await givenAttendees(acme, id, 'ann');
    await db.raw(admitSql, [id, 'ann']);
    const [{ checkedInAt, inside } = {}] = [...(await attendeesOf(acme, id)).values()];
    expect([inside, checkedInAt]).toEqual([true, expect.any(String)]);
    const { body } = await acme.get(`${checkinPath(id)}/scans`).expect(200);
    expect(body).toMatchObject([{ kind: 'entry', at: checkedInAt, status: 'admitted', gate: null }]);
    expect(await send(acme, id, { attendeeId: 'ann' })).toMatchObject([
      { status: 'already_admitted', checkedInAt },
    ]);
    expect(await send(acme, id, undoOf(body[0].scanId))).toMatchObject([
      { status: 'undone', checkedInAt: null },
    ]);
    await db.raw(admitSql, [id, 'ann']);
    expect((await attendeesOf(acme, id)).get('ann')).toMatchObject({ inside: true });
    expect(await db('checkin_scans').where({ event_id: id, kind: 'entry' })).toHaveLength(2);
  });

  test('is not changed by an exit that this release knows of, and admits after an undo', async ({
    acme,
    db,
  }) => {
    const { id } = await givenEvent(acme);
    await givenAttendees(acme, id, 'ann');
    const entry = scanOf('ann', 60);
    await send(acme, id, entry, scanOf('ann', 30, { kind: 'exit' }));
    // 0.2.0 finds the attendee admitted.
    expect((await db.raw(admitSql, [id, 'ann'])).rowCount).toBe(0);
    await send(acme, id, undoOf(entry.scanId));
    expect((await db.raw(admitSql, [id, 'ann'])).rowCount).toBe(1);
    expect((await attendeesOf(acme, id)).get('ann')).toMatchObject({ inside: true });
  });

  test('from before there were scans becomes a scan, once', async ({ acme, db }) => {
    const { id } = await givenEvent(acme);
    await givenAttendees(acme, id, 'ann', 'bob', 'cid');
    await db.raw(admitSql, [id, 'ann']);
    await send(acme, id, scanOf('bob', 60));
    const [{ checked_in_at: at } = {}] = await db('attendees').where({ event_id: id, attendee_id: 'ann' });
    await db('checkin_scans').where({ event_id: id, attendee_id: 'ann' }).delete();
    for (const _ of [1, 2]) await up(db);
    const scans = await db('checkin_scans').where({ event_id: id }).orderBy('attendee_id');
    expect(scans).toMatchObject([
      { attendee_id: 'ann', kind: 'entry', at, received_at: at },
      { attendee_id: 'bob', kind: 'entry' },
    ]);
  });
});
