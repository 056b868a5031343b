import type { Database } from '../contract/transaction.ts';
import { purgeExpired } from './idempotency-store.ts';
import { purgeRateLimits } from './rate-limit-store.ts';

const batchSize = 5_000;
// Bounds one run: a larger backlog waits for the next one.
const maxBatches = 200;

/** Deletes rows of one kind that have had their time, at most `limit` of them. Returns how many; fewer than `limit` when none is left. */
export type Purge = (db: Database, limit: number) => Promise<number>;

/**
 * Deletes expired idempotency records and rate counts, in batches. Several processes may run it at the same time.
 * @param more what else has had its time
 */
export async function purgeExpiredRows(db: Database, more: readonly Purge[] = []): Promise<void> {
  for (const purge of [purgeExpired, purgeRateLimits, ...more]) {
    for (let batch = 0; batch < maxBatches; batch += 1) {
      const deleted = await purge(db, batchSize);
      if (deleted < batchSize) break;
    }
  }
}
