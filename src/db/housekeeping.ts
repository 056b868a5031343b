import type { Knex } from 'knex';
import { purgeExpired } from './idempotency-store.ts';

const batch = 5_000;
// A backlog larger than this waits for the next time, so that one run has an end.
const maxBatches = 200;

/** Deletes what has expired: idempotency records and rate counts. Safe beside others that do the same. */
export async function purgeExpiredRows(db: Knex): Promise<void> {
  for (let round = 0; round < maxBatches; round += 1) {
    if ((await purgeExpired(db, batch)) < batch) break;
  }
  // rate-limiter-flexible stores the end of a window in milliseconds since 1970.
  await db('rate_limits').where('expire', '<', Date.now()).delete();
}
