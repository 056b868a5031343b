import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, onTestFinished } from 'vitest';
import { createLogger } from '../../src/base/log.ts';
import { createDatabase } from '../../src/db/connection/connect.ts';
import { numberAsTheyCome } from '../../src/news/feed/sequencer.ts';
import { numberNews } from '../../src/news/feed/sequencer-store.ts';
import { test } from '../support/fixtures.ts';
import { feedPath } from './news-world.ts';

type Item = {
  readonly sequence: number;
  readonly data: { readonly attendeeId: string; readonly eventId: string };
};

test('a hundred writers of random duration, and a reader who follows: every row once, in order', async ({
  acme,
  databaseUrl,
  service,
}) => {
  const company = service.companies.acme;
  const db = createDatabase(databaseUrl, { poolMax: 60, log: createLogger({ level: 'silent' }) });
  const stopping = new AbortController();
  const numbering = numberAsTheyCome(db, stopping.signal);
  onTestFinished(async () => {
    stopping.abort();
    await numbering;
    await db.destroy();
  });

  const expected = new Set<string>();
  const writer = async (number: number) => {
    const subject = randomUUID();
    for (let turn = 0; turn < 5; turn += 1) {
      // A tenth is taken back; what is committed took up to 300 ms.
      const rows = Array.from(
        { length: 1 + Math.floor(Math.random() * 4) },
        (_, n) => `${number}-${turn}-${n}`,
      );
      const isKept = Math.random() > 0.1;
      await db
        .transaction(async (tx) => {
          for (const mark of rows) {
            await tx.raw(
              `INSERT INTO news (company_id, type, subject, data)
               VALUES (?, 'attendee.added', ?, jsonb_build_object('eventId', ?::text, 'attendeeId', ?::text))`,
              [company, subject, subject, mark],
            );
            await delay(Math.random() * 75);
          }
          if (!isKept) throw new Error('taken back');
        })
        .catch(() => {});
      if (isKept) for (const mark of rows) expected.add(mark);
    }
  };

  const read: Item[] = [];
  const state = { isWritten: false };
  const follow = async () => {
    for (let cursor = ''; ; ) {
      const isLast = state.isWritten;
      const { body } = await acme.get(`${feedPath}?after=${cursor}`).set('Prefer', 'wait=1').expect(200);
      read.push(...body.news);
      cursor = body.cursor;
      if (isLast && body.news.length === 0 && read.length >= expected.size) return;
    }
  };
  const following = follow();
  await Promise.all(Array.from({ length: 100 }, (_, number) => writer(number)));
  state.isWritten = true;
  await following;

  expect(read.map(({ sequence }) => sequence)).toEqual(read.map((_, index) => index + 1));
  const marks = read.map(({ data }) => data.attendeeId);
  expect(marks).toHaveLength(expected.size);
  expect(new Set(marks)).toEqual(expected);
  // Of one writer, in the order of writing.
  for (const items of Map.groupBy(read, ({ data }) => data.eventId).values()) {
    const own = items.map(({ data }) => data.attendeeId);
    expect(own).toEqual(own.toSorted((a, b) => orderOf(a) - orderOf(b)));
  }
});

const orderOf = (mark: string): number => {
  const [, turn = '0', row = '0'] = mark.split('-');
  return Number(turn) * 100 + Number(row);
};

test('a long transaction delays nobody, and what it wrote comes last', async ({ db, databaseUrl }) => {
  const other = createDatabase(databaseUrl, { poolMax: 2, log: createLogger({ level: 'silent' }) });
  onTestFinished(() => other.destroy());
  const write = (on: typeof db, mark: string) =>
    on.raw(
      `INSERT INTO news (company_id, type, subject, data)
       VALUES ('globex', 'event.updated', gen_random_uuid(), jsonb_build_object('mark', ?::text))`,
      [mark],
    );
  const long = await other.transaction();
  await write(long as never, 'long');
  await write(db, 'short');
  expect(await numberNews(db, 100)).toBe(1);
  await long.commit();
  expect(await numberNews(db, 100)).toBe(1);
  const { rows } = await db.raw(
    `SELECT data->>'mark' AS mark, position FROM news WHERE company_id = 'globex' ORDER BY position`,
  );
  expect(rows).toEqual([
    { mark: 'short', position: '1' },
    { mark: 'long', position: '2' },
  ]);
});

test('two that number at once give no number twice and leave none out', async ({ db, databaseUrl }) => {
  const other = createDatabase(databaseUrl, { poolMax: 4, log: createLogger({ level: 'silent' }) });
  onTestFinished(() => other.destroy());
  await db.raw(
    `INSERT INTO news (company_id, type, subject, data) SELECT 'initech', 'event.updated', gen_random_uuid(), '{}' FROM generate_series(1, 500)`,
  );
  const counts = await Promise.all([db, other, other, db].map((on) => numberNews(on, 400)));
  expect(counts.reduce((sum, count) => sum + count, 0)).toBe(500);
  const positions = await db('news').where({ company_id: 'initech' }).orderBy('position').pluck('position');
  expect(positions.map(Number)).toEqual(positions.map((_, index) => index + 1));
});

test('twenty thousand at once get their numbers by a plan that compares each once', async ({ db }) => {
  // What a database learns of a table in which everything has a number.
  while ((await numberNews(db, 1_000)) > 0);
  await db.raw('VACUUM ANALYZE news');
  await db.raw(
    `INSERT INTO news (company_id, type, subject, data)
     SELECT 'hooli', 'event.updated', gen_random_uuid(), '{}' FROM generate_series(1, 20000)`,
  );
  expect(await numberNews(db, 20_000)).toBe(20_000);
});
