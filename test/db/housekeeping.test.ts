import { expect, vi } from 'vitest';
import { purgeExpiredRows } from '../../src/db/records/housekeeping.ts';
import { purgeDoneJobs } from '../../src/jobs/done-job-store.ts';
import { purgeWrongSecrets } from '../../src/rwa/assets/wrong-secret-store.ts';
import { asUser } from '../support/database.ts';
import { test } from '../support/fixtures.ts';
import { openPool } from '../support/open-pool.ts';

test('a worker deletes what has expired by the rights of its role', async ({ db, databaseUrl }) => {
  await db('rate_limits').insert({ key: 'old', points: 1, expire: 1 });
  const worker = openPool(asUser(databaseUrl, 'test_worker'));
  await purgeExpiredRows(worker, [purgeWrongSecrets]);
  expect(await db('rate_limits')).toEqual([]);
});

test('a worker deletes jobs that pg-boss should have deleted long ago, and no others', async ({
  db,
  databaseUrl,
  service,
}) => {
  await service.parts.jobs.enqueue('mint-nft', ['done', 'fresh', 'waiting']);
  // In another part of the table, at the same places.
  await db.raw("CREATE TABLE pgboss.part PARTITION OF pgboss.job FOR VALUES IN ('purge')");
  await db.raw(
    "INSERT INTO pgboss.job (name, singleton_key) SELECT 'purge', 'else ' || n FROM generate_series(1, 9) n",
  );
  await db.raw(
    "UPDATE pgboss.job SET state = 'completed', completed_on = now() WHERE singleton_key IN ('done', 'fresh')",
  );
  await db.raw(
    "UPDATE pgboss.job SET completed_on = now() - interval '3 hours' WHERE singleton_key = 'done'",
  );
  const worker = openPool(asUser(databaseUrl, 'test_worker'));
  await purgeExpiredRows(worker, [purgeDoneJobs]);
  const { rows } = await db.raw('SELECT singleton_key FROM pgboss.job ORDER BY 1');
  expect(rows.map((row: { singleton_key: string }) => row.singleton_key)).toEqual([
    ...Array.from({ length: 9 }, (_, n) => `else ${n + 1}`),
    'fresh',
    'waiting',
  ]);
});

test('what fails of one kind keeps no other', async ({ db }) => {
  const failing = vi.fn().mockRejectedValue(new Error('locked'));
  const other = vi.fn().mockResolvedValue(0);
  await expect(purgeExpiredRows(db, [failing, other])).rejects.toThrow(
    'not all that has expired was deleted',
  );
  expect(other).toHaveBeenCalledOnce();
});
