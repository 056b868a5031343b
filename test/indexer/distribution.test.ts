import { expect } from 'vitest';
import { indexTables } from '../../src/providers/indexer/store/distribute-store.ts';
import { test } from '../support/fixtures.ts';

test('every table with rows by network is spread over a cluster, or is known to stay on its coordinator', async ({
  database,
}) => {
  const { rows } = await database.db.raw<{ rows: { table_name: string }[] }>(
    `SELECT table_name FROM information_schema.columns
     WHERE table_schema = 'public' AND column_name = 'chain_id' ORDER BY table_name`,
  );
  const onCoordinator = [
    'company_gas_budgets',
    'company_gas_days',
    'contract_verdicts',
    'events',
    'mint_contract_origins',
    'mint_contracts',
    'mint_disagreements',
    'mint_lanes',
    'mint_recoveries',
    'mint_transactions',
    'networks',
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
