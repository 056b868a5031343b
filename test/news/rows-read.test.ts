import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import { feedCursor } from '../../src/news/feed/feed-cursor.ts';
import { readFeed } from '../../src/news/feed/feed-store.ts';
import { findDue, takeOver } from '../../src/news/sending/sender-store.ts';
import { test } from '../support/fixtures.ts';
import { rowsReadBy } from '../support/statements.ts';

const companyId = 'initech';
const [event, endpoint] = [randomUUID(), randomUUID()];
const many = 50_000;

// One event with many attendees, which is changed at first and at last.
test.beforeAll(async ({ database: { db } }) => {
  await db.raw(
    `INSERT INTO news (company_id, type, subject, data, position)
     SELECT ?, 'attendee.added', ?, '{}', n FROM generate_series(1, ?::int) n`,
    [companyId, event, many],
  );
  await db.raw('INSERT INTO news_feeds VALUES (?, ?)', [companyId, many]);
  await db.raw(
    `INSERT INTO news_endpoints (id, company_id, url, secrets, types, first_position, position)
     VALUES (?, ?, 'https://partner.example/', '{}', '{event.updated,attendee.added}', 0, ?)`,
    [endpoint, companyId, many],
  );
  await db.raw(
    `INSERT INTO news_deliveries (endpoint_id, position, subject) SELECT ?, n, ? FROM generate_series(1, ?::int) n`,
    [endpoint, event, many],
  );
  await db.raw('VACUUM ANALYZE news, news_deliveries');
  // The statistics of a table may miss a rare type.
  await db('news').whereIn('position', [1, many]).update({ type: 'event.updated' });
});

test('a page of a rare type reads few news, and moves on where nothing matches', async ({
  database: { db },
}) => {
  const types = ['event.updated'] as const;
  const first = await readFeed(db, { companyId, after: undefined, types, limit: 50 });
  const question = { companyId, types, limit: 50 };
  const next = await readFeed(db, { ...question, after: first.next });
  expect(next).toMatchObject({ news: [], hasMore: true });
  expect(feedCursor(companyId, next.next)).not.toBe(feedCursor(companyId, first.next));
  const page = () => readFeed(db, { ...question, after: next.next });
  expect(await rowsReadBy(db, 'news', page)).toBeLessThan(3_000);
});

test('the number of the news before is found among many others of its subject', async ({
  database: { db },
}) => {
  const types = ['event.updated'] as const;
  const { next } = await readFeed(db, { companyId, after: undefined, types: undefined, limit: 1 });
  const after = { ...next, position: many - 10, mark: '' };
  const page = () => readFeed(db, { companyId, after, types, limit: 50 });
  expect((await page()).news).toMatchObject([{ position: many, previous: 1 }]);
  expect(await rowsReadBy(db, 'news', page)).toBeLessThan(100);
});

test('what is due of an endpoint is found before many that wait behind it', async ({ database: { db } }) => {
  const due = () => findDue(db, { id: endpoint, busy: [], limit: 200 });
  expect(await due()).toMatchObject([{ position: 1 }]);
  expect(await rowsReadBy(db, 'news_deliveries', due)).toBeLessThan(10);
  const taking = () => takeOver(db, endpoint, 500);
  expect(await taking()).toEqual({ hasGap: false, hasMore: false });
  expect(await rowsReadBy(db, 'news_deliveries', taking)).toBeLessThan(10);
});

test('however little room an endpoint has, what waits behind its subjects is taken over in few steps', async ({
  database: { db },
}) => {
  const [company, id] = ['umbrella', randomUUID()];
  await db.raw(
    `INSERT INTO news_endpoints (id, company_id, url, secrets, types, first_position, position)
     VALUES (?, ?, 'https://partner.example/', '{}', '{event.updated}', 0, 499)`,
    [id, company],
  );
  const subjects = Array.from({ length: 499 }, () => randomUUID());
  const others = [randomUUID(), randomUUID()];
  // Of each subject something was rejected. Behind that are 2,000 news of these subjects and some of other types, then two subjects more.
  await db.raw(
    `INSERT INTO news_deliveries (endpoint_id, position, subject)
     SELECT ?, n, s FROM unnest(?::uuid[]) WITH ORDINALITY AS t (s, n)`,
    [id, subjects],
  );
  const write = (type: string, of: readonly string[], first: number) =>
    db.raw(
      `INSERT INTO news (company_id, type, subject, data, position)
       SELECT ?, ?, s, '{}', ?::int + n - 1 FROM unnest(?::uuid[]) WITH ORDINALITY AS t (s, n)`,
      [company, type, first, [...of]],
    );
  await write('event.updated', [...subjects, ...subjects, ...subjects, ...subjects], 500);
  await write('event.deleted', [randomUUID(), randomUUID()], 2_496);
  await write('event.updated', others, 2_498);
  let steps = 0;
  for (let more = true; more; steps += 1) more = (await takeOver(db, id, 500))?.hasMore === true;
  expect(steps).toBeLessThan(7);
  const [endpointNow] = await db('news_endpoints').where({ id }).select('position');
  expect(Number(endpointNow.position)).toBe(2_498);
  const taken = db('news_deliveries').where({ endpoint_id: id, delivered: false });
  const [count] = await taken.countDistinct('subject as subjects');
  expect(Number(count?.['subjects'])).toBe(500);
});
