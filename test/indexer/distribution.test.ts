import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { expect } from 'vitest';
import { indexTables } from '../../src/providers/indexer/store/rollback/distribute-store.ts';
import { test } from '../support/fixtures.ts';

test('every table with rows by network is spread over a cluster, or is known to stay on its coordinator', async ({
  database,
}) => {
  const { rows } = await database.db.raw<{ rows: { table_name: string }[] }>(
    `SELECT table_name FROM information_schema.columns
     WHERE table_schema = 'public' AND column_name = 'chain_id' ORDER BY table_name`,
  );
  const onCoordinator = [
    'attendee_tokens',
    'company_gas_budgets',
    'company_gas_days',
    'contract_verdicts',
    'event_challenges',
    'events',
    'index_errors',
    'mint_contracts',
    'mint_disagreements',
    'mint_lanes',
    'mint_recoveries',
    'mint_refusals',
    'mint_transactions',
    'network_finality',
    'networks',
    'nft_ledgers',
    'nft_transfers',
    'node_states',
    'rwas',
  ];
  const found = rows.map(({ table_name }) => table_name).filter((table) => !onCoordinator.includes(table));
  expect(found).toEqual([...indexTables].sort());
});

test.for(indexTables)(
  '%s has no reference to or from it, which a cluster would not keep',
  async (table, { database }) => {
    const { rows } = await database.db.raw<{ rows: unknown[] }>(
      "SELECT 1 FROM pg_constraint WHERE contype = 'f' AND ?::regclass IN (conrelid, confrelid)",
      [table],
    );
    expect(rows).toEqual([]);
  },
);

test('no row that is there already is changed by a function that differs from node to node, which a cluster refuses', async () => {
  const folder = path.join(import.meta.dirname, '../../src/providers/indexer/store');
  const texts = await Promise.all(
    (await readdir(folder, { recursive: true }))
      .filter((name) => name.endsWith('.ts'))
      .map((name) => readFile(path.join(folder, name), 'utf8')),
  );
  const changes = texts.flatMap((text) =>
    [...text.matchAll(/\bDO UPDATE\b[^`]*/g)].map(([change]) => change),
  );
  expect(changes.length).toBeGreaterThan(5);
  expect(
    changes.filter((change) => /\b(now|clock_timestamp|random)\(|\bcurrent_timestamp\b/i.test(change)),
  ).toEqual([]);
});
