import { once } from 'node:events';
import { request as send } from 'node:http';
import { describe, expect } from 'vitest';
import { atPrimary } from '../../src/db/replica/replica-reads.ts';
import { listEvents, readAllEvents, readListed } from '../../src/events/event-list-store.ts';
import { test } from '../support/fixtures.ts';
import { statementsOf } from '../support/statements.ts';

const path = '/events/v1/api/event';
const many = 200;
const description = 'd'.repeat(9_000);
const program = 'p'.repeat(19_000);
const pictures = Array.from({ length: 100 }, (_, n) => `https://pictures.example/${n}/${'x'.repeat(1_900)}`);

// In two stretches of moments, so that pages at an offset and of a time have some of each.
test.beforeAll(async ({ db, service: { companies } }) => {
  await db.raw(
    `INSERT INTO events (company_id, name, description, program, start_date, created_at)
     SELECT ?, 'event ' || n, ?, ?, timestamptz '2027-01-01', timestamptz '2026-01-01' + n * interval '1 second'
     FROM generate_series(1, ?::int) AS n`,
    [companies.acme, description, program, many],
  );
  await db.raw(
    `INSERT INTO events (company_id, name, gallery_images) SELECT ?, 'event ' || n, ? FROM generate_series(1, 60) AS n`,
    [companies.globex, pictures],
  );
});

const namesFrom = (first: number, last: number) =>
  Array.from({ length: first - last + 1 }, (_, index) => `event ${first - index}`);

describe('a page of large events', () => {
  test.for([
    ['?limit=200', namesFrom(200, 1)],
    ['?limit=50&offset=20', namesFrom(180, 131)],
    ['?limit=100&offset=5&startsFrom=2026-12-01', namesFrom(195, 96)],
    ['', namesFrom(200, 1)],
  ] as const)('has each whole and in order: %s', async ([query, names], { acme }) => {
    const { body, headers } = await acme.get(`${path}${query}`).expect(200);
    expect(body.map(({ name }: { name: string }) => name)).toEqual(names);
    expect(headers['x-total-count']).toBe(String(many));
    for (const event of body) expect(event).toMatchObject({ description, program });
    const last = await acme.get(`${path}/${body.at(-1).id}`).expect(200);
    expect(body.at(-1)).toEqual(last.body);
  });

  test('leads to the next page', async ({ acme }) => {
    const { headers } = await acme.get(`${path}?limit=80`).expect(200);
    const { body } = await acme.get(`${path}?limit=80&cursor=${headers['x-next-cursor']}`).expect(200);
    expect(body.map(({ name }: { name: string }) => name)).toEqual(namesFrom(120, 41));
  });

  test('is read in pieces of a quarter of a megabyte and one event', async ({
    db,
    service: { companies },
  }) => {
    const page = await listEvents(db, companies.acme, {}, { limit: many });
    const whole = page.filter(({ event }) => event !== undefined);
    const most = Math.ceil((256 * 1024) / (description.length + program.length)) + 1;
    expect([page.length, whole.length <= most, whole.length > 5]).toEqual([many, true, true]);
    const { first, rest } = readListed(db, companies.acme, page);
    const names = first.map(({ name }) => name);
    for await (const batch of rest ?? []) {
      expect(batch.length).toBeLessThanOrEqual(most);
      names.push(...batch.map(({ name }) => name));
    }
    expect(names).toEqual(namesFrom(200, 1));
  });

  test('counts lists of addresses, which are compressed, too', async ({ db, service: { companies } }) => {
    const all = await readAllEvents(atPrimary(db), companies.globex, {});
    let [count, largest] = [all.first.length, all.first.length];
    for await (const batch of all.rest ?? []) {
      count += batch.length;
      largest = Math.max(largest, batch.length);
      for (const { galleryImages } of batch) expect(galleryImages).toEqual(pictures);
    }
    expect(count).toBe(60);
    expect(largest).toBeLessThan(20);
  });

  test('leaves out what is deleted before it is read, and has what is changed as it is then', async ({
    db,
    service: { companies },
  }) => {
    const tx = await db.transaction();
    const page = await listEvents(tx, companies.acme, {}, { limit: many });
    await tx('events').where({ company_id: companies.acme, name: 'event 3' }).delete();
    await tx('events').where({ company_id: companies.acme, name: 'event 2' }).update({ name: 'changed' });
    const names: string[] = [];
    for await (const batch of readListed(tx, companies.acme, page).rest ?? []) {
      names.push(...batch.map(({ name }) => name));
    }
    expect(names.slice(-3)).toEqual(['event 4', 'changed', 'event 1']);
    await tx.rollback();
  });

  test('is read no further once its caller has gone', async ({ service: { baseUrl, keys, parts } }) => {
    const statements = await statementsOf(parts.db, async () => {
      const request = send(`${baseUrl}${path}?limit=200`, { headers: { 'x-api-key': keys.acme } }).end();
      const [answer] = await once(request, 'response');
      await once(answer, 'readable');
      answer.destroy();
      await once(answer, 'close');
    });
    const read = statements.filter(({ sql }) => sql.includes('id = ANY ($2::uuid[])'));
    expect(read.length).toBeLessThan(10);
  });
});
