import type { Database } from '../contract/transaction.ts';
import { purgeExpired } from './idempotency-store.ts';
import { purgeRateLimits } from './rate-limit-store.ts';

const batchSize = 5_000;
// Bounds one run: a larger backlog waits for the next one.
const maxBatches = 200;

/** Deletes expired idempotency records and rate counts, in batches. Several processes may run it at the same time. */
export async function purgeExpiredRows(db: Database): Promise<void> {
  for (const purge of [purgeExpired, purgeRateLimits]) {
    for (let batch = 0; batch < maxBatches; batch += 1) {
      const deleted = await purge(db, batchSize);
      if (deleted < batchSize) break;
    }
  }
}
