import { randomUUID } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { Knex } from 'knex';
import { describe, expect, test } from 'vitest';
import { migrateToLatest, migrationConfig } from '../../src/db/schema/migrate.ts';
import {
  distributeIndex,
  findShards,
  indexTables,
} from '../../src/providers/indexer/store/rollback/distribute-store.ts';
import { commandLine, settingsFor } from '../cli/command-line.ts';
import { createEmptyCitusDatabase } from '../support/citus.ts';

const clusterUrl = process.env['CITUS_URL'];
const why = clusterUrl === undefined ? ' (not run: CITUS_URL names no cluster)' : '';
const folder = fileURLToPath(new URL('../../migrations', import.meta.url));
const migrations = (await readdir(folder)).sort();
// Before it there is nothing to spread.
const first = migrations.indexOf('0010_index.ts');
const cases = migrations.slice(first).map((name, index) => ({ name, count: first + index + 1 }));

async function withCluster(work: (db: Knex, url: string) => Promise<void>): Promise<void> {
  const name = `upgrade_${randomUUID().replaceAll('-', '')}`;
  const cluster = await createEmptyCitusDatabase(clusterUrl ?? '', name);
  try {
    await work(cluster.db, cluster.url);
  } finally {
    await cluster.close();
  }
}

const rows = Array.from({ length: 200 }, (_, index) => ({
  chain_id: 1,
  wallet: Buffer.from([index]),
  block_number: index,
  tx_index: 0,
  tx: '{}',
  tx_hash: Buffer.from([index]),
  block_hash: Buffer.from([0]),
  block_time: new Date(),
}));

/** Bytes of the tables of the index that are on the coordinator itself, where nothing reads them. */
async function hiddenBytes(db: Knex): Promise<number> {
  const { rows: found } = await db.raw(
    'SELECT sum(pg_relation_size(name::regclass))::int AS bytes FROM unnest(?::text[]) AS t (name)',
    [[...indexTables]],
  );
  return found[0].bytes;
}

describe.skipIf(clusterUrl === undefined)(`an index that is spread over a cluster${why}`, () => {
  test.for(cases)('after $name takes the migrations that follow', async ({ count }) => {
    await withCluster(async (db) => {
      for (let done = 0; done < count; done += 1) await db.migrate.up(migrationConfig);
      await db('wallet_history').insert(rows);
      await distributeIndex(db, { shards: 4, onTable: () => {} });
      expect(await migrateToLatest(db)).toEqual(migrations.slice(count));
      const placements = await distributeIndex(db, { shards: 4, onTable: () => {} });
      expect(placements.map(({ table }) => table).sort()).toEqual([...indexTables].sort());
      expect(await db('wallet_history').count()).toEqual([{ count: '200' }]);
      expect(await hiddenBytes(db)).toBe(0);
    });
  });

  test('by `migrate` spreads what a release adds, and says when it keeps its shards', async () => {
    await withCluster(async (db, url) => {
      const { run } = commandLine(settingsFor(url));
      while ((await db.migrate.currentVersion(migrationConfig)) !== '0019')
        await db.migrate.up(migrationConfig);
      await distributeIndex(db, { shards: 4, onTable: () => {} });
      expect((await run('migrate')).err).toMatch(/^Spread over the cluster .* history_facets/m);
      const { status, err } = await run('migrate', '--distribute', '--shards', '8');
      expect(status).toBe(0);
      expect(err).toContain('It has 4 shards and keeps them');
      expect(await findShards(db)).toBe(4);
      expect((await run('migrate', '--distribute', '--shards', '4')).err).not.toContain('keeps them');
    });
  });
});
