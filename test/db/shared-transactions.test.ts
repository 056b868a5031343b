import { beforeEach, describe, expect, vi } from 'vitest';
import type { Database, Tx } from '../../src/contract/transaction.ts';
import { isOutage } from '../../src/db/outage.ts';
import { createSharedTransactions, type SharedTransactions } from '../../src/db/shared-transactions.ts';
import { together } from '../../src/db/together.ts';
import { problem } from '../../src/errors.ts';
import { test as base, perFile } from '../support/fixtures.ts';

const test = base.extend('shared', perFile, ({ db }) => createSharedTransactions(db));
test.beforeAll(({ db }) =>
  db.raw('CREATE TABLE work (name text PRIMARY KEY, xid text DEFAULT pg_current_xact_id()::text)'),
);
test.beforeEach(({ db }) => db('work').delete());
const statements: (readonly string[])[] = [];
beforeEach(() => statements.splice(0));

/** Inserts the name, with those of all who ask at the same moment. */
const add = (tx: Tx, name: string) =>
  together(tx, 'add', name, async (names) => {
    statements.push(names);
    await tx('work').insert(names.map((each) => ({ name: each })));
    return names;
  });
const names = async (db: Database) => (await db('work').orderBy('name')).map(({ name }) => name);
const transactions = async (db: Database) => new Set((await db('work')).map(({ xid }) => xid)).size;

/** Work of one line; about itself unless told otherwise. */
const run = <T>(shared: SharedTransactions, name: string, work: (tx: Tx) => Promise<T>, about = name) =>
  shared.run({ line: 'test', about }, work);

describe('works that come at once', () => {
  test('share a transaction, and a statement for each thing that they ask for', async ({ db, shared }) => {
    const wanted = ['a', 'b', 'c', 'd'];
    const done = await Promise.all(wanted.map((name) => run(shared, name, (tx) => add(tx, name))));
    expect(done).toEqual(wanted);
    expect(statements).toEqual([wanted]);
    expect(await transactions(db)).toBe(1);
  });

  test('of two lines have nothing in common', async ({ db, shared }) => {
    const add2 = (line: string) => shared.run({ line, about: '' }, (tx) => add(tx, line));
    await Promise.all([add2('one'), add2('two')]);
    expect(await transactions(db)).toBe(2);
  });

  test('about the same follow each other, each seeing what the one before it did', async ({ db, shared }) => {
    const seen = await Promise.all(
      ['a', 'b', 'c'].map((name) =>
        run(
          shared,
          name,
          async (tx) => {
            const before = await tx('work').pluck('name');
            await add(tx, name);
            return before;
          },
          'the same',
        ),
      ),
    );
    expect(seen).toEqual([[], ['a'], ['a', 'b']]);
    expect(await transactions(db)).toBe(1);
  });

  test('are over thirty-two: the others go next', async ({ db, shared }) => {
    const wanted = Array.from({ length: 100 }, (_, index) => String(index).padStart(3, '0'));
    await Promise.all(wanted.map((name) => run(shared, name, (tx) => add(tx, name))));
    expect(await names(db)).toEqual(wanted);
    expect(statements.map(({ length }) => length).toSorted((one, other) => other - one)).toEqual([
      32, 32, 32, 4,
    ]);
  });
});

describe('one that fails', () => {
  test('with a problem takes nobody with it', async ({ db, shared }) => {
    const refused = run(shared, 'a', async () => {
      throw problem('event_full');
    });
    const [one, other] = await Promise.allSettled([refused, run(shared, 'b', (tx) => add(tx, 'b'))]);
    expect(one).toMatchObject({ status: 'rejected', reason: { code: 'event_full' } });
    expect(other).toMatchObject({ status: 'fulfilled', value: 'b' });
    expect(await names(db)).toEqual(['b']);
  });

  test('with an error leaves nothing, and the others are done by themselves', async ({ db, shared }) => {
    const broken = run(shared, 'a', async (tx) => {
      await add(tx, 'a');
      throw new Error('broken');
    });
    const others = ['b', 'c'].map((name) => run(shared, name, (tx) => add(tx, name)));
    const ends = await Promise.allSettled([broken, ...others]);
    expect(ends.map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'fulfilled']);
    expect(await names(db)).toEqual(['b', 'c']);
    expect(await transactions(db)).toBe(2);
  });

  test('in a statement that it shares fails alone', async ({ db, shared }) => {
    await db('work').insert({ name: 'b' });
    const ends = await Promise.allSettled(
      ['a', 'b', 'c'].map((name) => run(shared, name, (tx) => add(tx, name))),
    );
    expect(ends.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(ends[1]).toMatchObject({ reason: { code: '23505' } });
    expect(await names(db)).toEqual(['a', 'b', 'c']);
  });

  test('alone has its transaction undone for a mere problem, too', async ({ db, shared }) => {
    const refused = run(shared, 'a', async (tx) => {
      await add(tx, 'a');
      throw problem('event_full');
    });
    await expect(refused).rejects.toMatchObject({ code: 'event_full' });
    expect(await names(db)).toEqual([]);
  });

  test('for want of the database is not tried again by each: all are told', async ({ db, shared }) => {
    const works = ['a', 'b'].map((name) =>
      vi.fn(async (tx: Tx) => {
        await add(tx, name);
        await tx.raw('SELECT pg_terminate_backend(pg_backend_pid())');
      }),
    );
    const ends = await Promise.allSettled(works.map((work, index) => run(shared, String(index), work)));
    expect(ends.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    for (const work of works) expect(work).toHaveBeenCalledOnce();
    for (const end of ends) expect(isOutage(end.status === 'rejected' && end.reason)).toBe(true);
    expect(await names(db)).toEqual([]);
  });

  test('at the commit is not tried again: it may have been done', async ({ db, shared }) => {
    await db.raw('ALTER TABLE work ADD CONSTRAINT late UNIQUE (xid) DEFERRABLE INITIALLY DEFERRED');
    const works = ['a', 'b'].map((name) => vi.fn((tx: Tx) => add(tx, name)));
    const ends = await Promise.allSettled(works.map((work, index) => run(shared, String(index), work)));
    await db.raw('ALTER TABLE work DROP CONSTRAINT late');
    expect(ends.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    for (const work of works) expect(work).toHaveBeenCalledOnce();
    expect(await names(db)).toEqual([]);
  });
});

test('a work that has no turn in time is told so while the others still run, and is not done later', async ({
  db,
}) => {
  const impatient = createSharedTransactions(db, 50);
  const held = Promise.withResolvers<void>();
  /** Resolves to its end once the transaction is open. */
  const hold = async (about: string) => {
    const opened = Promise.withResolvers<void>();
    const end = impatient.run({ line: 'slow', about }, async () => {
      opened.resolve();
      await held.promise;
    });
    await opened.promise;
    return { end };
  };
  const holders = [await hold('one'), await hold('two')];
  const late = impatient.run({ line: 'slow', about: 'late' }, (tx) => add(tx, 'late'));
  await expect(late).rejects.toMatchObject({ code: 'service_unavailable' });
  await impatient.run({ line: 'other', about: '' }, (tx) => add(tx, 'other'));
  held.resolve();
  await Promise.all(holders.map(({ end }) => end));
  await impatient.run({ line: 'slow', about: 'next' }, (tx) => add(tx, 'next'));
  expect(await names(db)).toEqual(['next', 'other']);
});
