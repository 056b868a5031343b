import { describe, expect } from 'vitest';
import { sumsQuery } from '../../src/providers/indexer/read/reconciliation-store.ts';
import { distributeIndex } from '../../src/providers/indexer/store/rollback/distribute-store.ts';
import { test } from '../support/fixtures.ts';
import { insertIndexHead } from '../support/index-head.ts';
import { pageQueries, wallet } from './page-queries.ts';

describe.skipIf(process.env['CITUS_URL'] === undefined)('in a cluster of Citus', () => {
  test.beforeAll(({ db }) => insertIndexHead(db, { chain_id: '1' }));

  test.for(pageQueries)('a page %s is answered by one shard', async ([_name, { sql, bindings }], { db }) => {
    const { rows } = await db.raw<{ rows: Record<string, string>[] }>(
      `EXPLAIN ${sql}`,
      bindings as never, // positional or named, as the query has them
    );
    const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
    expect(plan).toContain('Task Count: 1');
    expect(plan).not.toContain('Distributed Subplan');
  });

  test('sums as of a block read what came after it, and no more of the wallet', async ({ db }) => {
    await db.raw(
      `INSERT INTO wallet_history SELECT 1, ?::bytea, n / 3, n % 3, '\\x00', '\\x00', to_timestamp(n / 3 * 12), '[]',
         NULL, 1 FROM generate_series(1, 100000) n`,
      [`\\x${'ab'.repeat(20)}`],
    );
    await db.raw('UPDATE index_state SET ledger_from = 0, ledger_head = head_hash');
    await db.raw('ANALYZE wallet_history');
    const { sql, bindings } = sumsQuery('1', wallet, 33_330n);
    const { rows } = await db.raw<{ rows: Record<string, string>[] }>(
      `EXPLAIN (ANALYZE, TIMING off, COSTS off) ${sql}`,
      bindings as never, // named, as the query has them
    );
    const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
    expect(plan).toMatch(/Index Scan using wallet_history_pkey_\d+ .*rows=8 /);
    expect(plan).not.toMatch(/Seq Scan on (wallet|block)_|Rows Removed/);
  });

  test('spreads nothing twice', async ({ db }) => {
    const again = await distributeIndex(db, { shards: 4, onTable: () => undefined });
    expect(again.map(({ table, placement, moved }) => [table, placement, moved])).toEqual([
      ['index_state', 'on every node', false],
      ['index_blocks', 'on every node', false],
      ['index_skipped_logs', 'on every node', false],
      ['index_skipped_blocks', 'on every node', false],
      ['token_contracts', 'on every node', false],
      ['nft_tokens', 'on every node', false],
      ['nft_refreshes', 'on every node', false],
      ['transfer_checks', 'on every node', false],
      ['wallet_history', 'by wallet', false],
      ['history_facets', 'by wallet', false],
      ['nft_changes', 'by wallet', false],
      ['nft_holdings', 'by wallet', false],
      ['block_credits', 'by wallet', false],
      ['native_sums', 'by wallet', false],
      ['approval_changes', 'by wallet', false],
      ['wallet_approvals', 'by wallet', false],
    ]);
  });
});
