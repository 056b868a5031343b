import type { Database } from '../../contract/transaction.ts';
import { purgeExpired } from './idempotency-store.ts';
import { purgeRateLimits } from './rate-limit-store.ts';

const batchSize = 5_000;
// Of one kind in a run, which comes every ten minutes: the next one goes on.
const longestMs = 60_000;

/** Deletes rows of one kind that have had their time, at most `limit` of them. Returns how many; fewer than `limit` when none is left. */
export type Purge = (db: Database, limit: number) => Promise<number>;

/**
 * Deletes expired idempotency records and rate counts, in batches. Several processes may run it at the same time. What fails of one
 * kind keeps no other.
 * @param more what else has had its time
 * @throws AggregateError of the kinds that failed
 */
export async function purgeExpiredRows(db: Database, more: readonly Purge[] = []): Promise<void> {
  const failures: unknown[] = [];
  for (const purge of [purgeExpired, purgeRateLimits, ...more]) {
    await purgeAll(db, purge).catch((error: unknown) => failures.push(error));
  }
  if (failures.length > 0) throw new AggregateError(failures, 'not all that has expired was deleted');
}

async function purgeAll(db: Database, purge: Purge): Promise<void> {
  const began = performance.now();
  while ((await purge(db, batchSize)) === batchSize && performance.now() - began < longestMs);
}
