import { describe, expect } from 'vitest';
import { createLogger } from '../../src/base/log.ts';
import type { Database } from '../../src/contract/transaction.ts';
import { createDatabase } from '../../src/db/connection/connect.ts';
import { purgeExpiredRows } from '../../src/db/records/housekeeping.ts';
import { purgeAttendees } from '../../src/events/deleted-event-store.ts';
import { asUser } from '../support/database.ts';
import { test } from '../support/fixtures.ts';
import { eventPath, givenAttendees, givenEvent } from './requests.ts';

describe('204', () => {
  test('deletes the event and all its attendees', async ({ service, acme }) => {
    const { id } = await givenEvent(acme);
    await givenAttendees(acme, id, 'ann', 'bob');
    await acme.delete(`${eventPath}/${id}`).expect(204);
    await acme.get(`${eventPath}/${id}`).expect(404);
    await acme.get(`${eventPath}/${id}/attendees`).expect(404);
    expect(await service.db('attendees').where({ event_id: id })).toEqual([]);
  });
});

describe('an event with more attendees than go with it', () => {
  const countOf = async (db: Database, eventId: string) =>
    Number((await db('attendees').where({ event_id: eventId }).count())[0]?.['count']);
  const crowd = test.extend('crowded', async ({ db, service, acme }) => {
    const { id } = await givenEvent(acme);
    await db.raw(
      `INSERT INTO attendees (company_id, event_id, attendee_id) SELECT ?, ?, 'a' || n FROM generate_series(1, 10001) n`,
      [service.companies.acme, id],
    );
    await db('events').where({ id }).update({ total_attendees: 10_001 });
    return id;
  });

  crowd(
    'is gone at once; a worker deletes its attendees by the rights of its role, and no others',
    async ({ db, databaseUrl, acme, crowded }) => {
      const kept = await givenEvent(acme);
      await givenAttendees(acme, kept.id, 'ann');
      await acme.delete(`${eventPath}/${crowded}`).expect(204);
      await acme.get(`${eventPath}/${crowded}/attendees`).expect(404);
      await acme.post(`${eventPath}/${crowded}/attendees`).send({ attendeeId: 'late' }).expect(404);
      // What the request deleted would not end in its time with millions.
      expect(await countOf(db, crowded)).toBe(10_001);

      const log = createLogger({ level: 'silent' });
      const worker = createDatabase(asUser(databaseUrl, 'test_worker'), { poolMax: 1, log });
      try {
        expect(await purgeAttendees(worker, 4_000)).toBe(4_000);
        expect(await countOf(db, crowded)).toBe(6_001);
        await purgeExpiredRows(worker, [purgeAttendees]);
      } finally {
        await worker.destroy();
      }
      expect(await countOf(db, crowded)).toBe(0);
      expect(await countOf(db, kept.id)).toBe(1);
      expect(await db('deleted_events')).toEqual([]);
    },
  );
});

describe('an event with more scans than go with it', () => {
  test('is gone at once; a worker deletes its scans and attendees', async ({
    db,
    databaseUrl,
    service,
    acme,
  }) => {
    const { id } = await givenEvent(acme);
    await db.raw(
      `INSERT INTO attendees (company_id, event_id, attendee_id) SELECT ?, ?, 'a' || n FROM generate_series(1, 200) n`,
      [service.companies.acme, id],
    );
    await db('events').where({ id }).update({ total_attendees: 200 });
    await db.raw(
      `INSERT INTO checkin_scans (event_id, scan_id, kind, at, attendee_id)
       SELECT ?, gen_random_uuid(), 'entry', date_trunc('milliseconds', now()), 'a' || (1 + n % 200)
       FROM generate_series(1, 20001) n`,
      [id],
    );
    await db.raw(
      `INSERT INTO checkin_scans (event_id, scan_id, kind, at, undoes)
       VALUES (?, gen_random_uuid(), 'undo', date_trunc('milliseconds', now()), gen_random_uuid())`,
      [id],
    );
    const countScans = async () =>
      Number((await db('checkin_scans').where({ event_id: id }).count())[0]?.['count']);
    await acme.delete(`${eventPath}/${id}`).expect(204);
    await acme.get(`${eventPath}/${id}/checkin/scans`).expect(404);
    expect(await countScans()).toBe(20_002);
    const worker = createDatabase(asUser(databaseUrl, 'test_worker'), {
      poolMax: 1,
      log: createLogger({ level: 'silent' }),
    });
    try {
      expect(await purgeAttendees(worker, 4_000)).toBe(4_000);
      expect(await countScans()).toBe(16_002);
      await purgeExpiredRows(worker, [purgeAttendees]);
    } finally {
      await worker.destroy();
    }
    expect([await countScans(), await db('attendees').where({ event_id: id })]).toEqual([0, []]);
    expect(await db('deleted_events')).toEqual([]);
  });
});

describe('404', () => {
  test('is the answer to the second of two deletions, with If-Match or without', async ({ acme }) => {
    const { id } = await givenEvent(acme);
    await acme.delete(`${eventPath}/${id}`).expect(204);
    await acme.delete(`${eventPath}/${id}`).expect(404);
    await acme.delete(`${eventPath}/${id}`).set('If-Match', '*').expect(404);
  });
});

describe('412', () => {
  test('keeps an event that somebody has registered for since', async ({ acme }) => {
    const { id, etag } = await givenEvent(acme);
    await givenAttendees(acme, id, 'ann');
    await acme.delete(`${eventPath}/${id}`).set('If-Match', etag).expect(412);
  });
});
