import { expect } from 'vitest';
import { createDatabase } from '../../src/db/connect.ts';
import { purgeExpiredRows } from '../../src/db/housekeeping.ts';
import { createLogger } from '../../src/log.ts';
import { purgeSecretAttempts } from '../../src/rwa/assets/secret-attempt-store.ts';
import { purgeUnknownClaims } from '../../src/rwa/minting/unknown-claim-store.ts';
import { asUser } from '../support/database.ts';
import { test } from '../support/fixtures.ts';

test('a worker deletes what has expired by the rights of its role', async ({ db, databaseUrl }) => {
  await db('rate_limits').insert({ key: 'old', points: 1, expire: 1 });
  const worker = createDatabase(asUser(databaseUrl, 'test_worker'), {
    poolMax: 1,
    log: createLogger({ level: 'silent' }),
  });
  await purgeExpiredRows(worker, [purgeSecretAttempts, purgeUnknownClaims]).finally(() => worker.destroy());
  expect(await db('rate_limits')).toEqual([]);
});
