import { request as send } from 'node:http';
import { describe, expect } from 'vitest';
import { test } from '../support/fixtures.ts';

const events = '/events/v1/api/event';
const many = 350;

/** Events of which several were created in the same microsecond, for a company of each test. */
async function insertEvents(db: import('knex').Knex, companyId: string, count: number): Promise<void> {
  await db.raw(
    `INSERT INTO events (company_id, name, created_at, start_date)
     SELECT ?, 'event ' || n, timestamptz '2026-01-01' + n / 3 * interval '1 microsecond', timestamptz '2027-01-01'
     FROM generate_series(1, ?::int) AS n`,
    [companyId, count],
  );
}

async function insertAttendees(db: import('knex').Knex, eventId: string, count: number): Promise<void> {
  await db.raw(
    `INSERT INTO attendees (company_id, event_id, attendee_id)
     SELECT company_id, id, 'user ' || n FROM events, generate_series(1, ?::int) AS n WHERE id = ?`,
    [count, eventId],
  );
}

describe('a list of all', () => {
  test('has every event once, newest first, over many batches', async ({ acme, db, service }) => {
    await insertEvents(db, service.companies.acme, many);
    const { body, headers } = await acme.get(events).expect(200);
    expect(headers['x-total-count']).toBe(String(many));
    const expected = await db('events').orderBy([
      { column: 'created_at', order: 'desc' },
      { column: 'id', order: 'desc' },
    ]);
    expect(body.map(({ id }: { id: string }) => id)).toEqual(expected.map(({ id }) => id));
    const later = await acme.get(`${events}?offset=120&startsFrom=2026-12-31`).expect(200);
    expect(later.body).toHaveLength(many - 120);
    expect(later.headers['x-total-count']).toBe(String(many));
    expect((await acme.get(`${events}?startsFrom=2028-01-01`).expect(200)).body).toEqual([]);
  });

  test('has every attendee once, in the order of registration', async ({ globex, db, service }) => {
    await insertEvents(db, service.companies.globex, 1);
    const { id } = await db('events').where('company_id', service.companies.globex).first('id');
    await insertAttendees(db, id, 2_500);
    const { body } = await globex.get(`${events}/${id}/attendees`).expect(200);
    expect(body.map(({ attendeeId }: { attendeeId: string }) => attendeeId)).toEqual(
      Array.from({ length: 2_500 }, (_, index) => `user ${index + 1}`),
    );
    await db('attendees').where('event_id', id).andWhereRaw("attendee_id NOT IN ('user 1')").delete();
    expect((await globex.get(`${events}/${id}/attendees`).expect(200)).body).toHaveLength(1);
    await insertAttendees(db, id, 0);
  });

  test('keeps no connection of the pool while the caller does not read', async ({ service, db }) => {
    const { baseUrl, keys, parts } = service;
    await db('events')
      .where('company_id', service.companies.acme)
      .update({ description: 'x'.repeat(90_000) });
    const answers = await Promise.all(
      Array.from(
        { length: 12 },
        () =>
          new Promise<import('node:http').IncomingMessage>((resolve, reject) => {
            const request = send(`${baseUrl}${events}`, { headers: { 'x-api-key': keys.acme } }, resolve);
            request.once('error', reject).end();
          }),
      ),
    );
    await expect.poll(() => parts.db.client.pool.numUsed()).toBe(0);
    for (const answer of answers) answer.destroy();
  });

  test('is cut when its event goes away before it is whole', async ({ db, service }) => {
    const { baseUrl, keys, companies } = service;
    const { id } = await db('events').where('company_id', companies.acme).first('id');
    await insertAttendees(db, id, 60_000);
    const cut = await new Promise((resolve, reject) => {
      const request = send(
        `${baseUrl}${events}/${id}/attendees`,
        { headers: { 'x-api-key': keys.acme } },
        async (answer) => {
          answer.once('error', resolve).once('end', () => reject(new Error('the list was ended')));
          await db('events').where('id', id).delete();
          answer.resume();
        },
      );
      request.once('error', reject).end();
    });
    expect(cut).toMatchObject({ code: 'ECONNRESET' });
  });
});
