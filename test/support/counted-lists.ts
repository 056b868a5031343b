import type { Knex } from 'knex';
import { expect } from 'vitest';
import type { Database } from '../../src/contract/transaction.ts';
import { foldCounts } from '../../src/db/list-folds-store.ts';
import { settleCounts, splitCrowded } from '../../src/db/list-splits-store.ts';

type Some = {
  readonly company: string;
  /** A random number below the given one. */
  readonly random: (below: number) => number;
  /** Among so many rows, the first ones by id. */
  readonly among: number;
  readonly most: number;
};

/** The ids of some rows of a table that follow each other, others at each call. */
export const someOf =
  (db: Database, { company, random, among, most }: Some) =>
  (table: string): Knex.QueryBuilder =>
    db(table)
      .select('id')
      .where('company_id', company)
      .orderBy('id')
      .offset(random(among))
      .limit(1 + random(most));

type Counted = {
  readonly random: (below: number) => number;
  readonly changeSome: (db: Database) => Promise<void>;
  /** Holds what the counters say against all rows. */
  readonly expectTrue: (db: Database) => Promise<void>;
  readonly wrongCounters: (db: Database) => Promise<unknown[]>;
};

/** Changes rows, folds and parts in steps, and holds the lists against their rows after each. */
export async function expectTrueThroughout(
  db: Database,
  { random, changeSome, expectTrue, wrongCounters }: Counted,
): Promise<void> {
  for (let round = 0; round < 4; round += 1) {
    await changeSome(db);
    await expectTrue(db);
    await foldCounts(db, 1 + random(200));
    await expectTrue(db);
    await splitCrowded(db, 1 + random(3));
    await expectTrue(db);
    expect(await wrongCounters(db)).toEqual([]);
  }
  await settleCounts(db);
  await expectTrue(db);
  expect(await wrongCounters(db)).toEqual([]);
}
