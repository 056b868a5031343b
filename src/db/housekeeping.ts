import type { Knex } from 'knex';
import { purgeExpired } from './idempotency-store.ts';
import { purgeRateLimits } from './rate-limit-store.ts';

const batch = 5_000;
// A backlog larger than this waits for the next time, so that one run has an end.
const maxBatches = 200;

/** Deletes what has expired: idempotency records and rate counts. Safe beside others that do the same. */
export async function purgeExpiredRows(db: Knex): Promise<void> {
  for (const purge of [purgeExpired, purgeRateLimits]) {
    for (let round = 0; round < maxBatches; round += 1) {
      if ((await purge(db, batch)) < batch) break;
    }
  }
}
