import type { Database } from '../../../contract/transaction.ts';

/** Tables that grow with the chain: each row belongs to a wallet, and each page reads one wallet. */
const byWallet = [
  ...(['wallet_history', 'history_facets', 'nft_changes', 'nft_holdings'] as const),
  ...(['block_credits', 'native_sums', 'approval_changes', 'wallet_approvals'] as const),
] as const;

/** Tables that any page or write may need: smaller than the others, so every node has a copy. */
const everywhere = [
  'index_state',
  'index_blocks',
  'index_skipped_logs',
  'index_skipped_blocks',
  'token_contracts',
  'nft_tokens',
  'nft_refreshes',
  'transfer_checks',
] as const;

/** Every table of the index. */
export const indexTables: readonly string[] = [...byWallet, ...everywhere];

/** The placement of a table of the index in a Citus cluster. */
export type Placement = {
  readonly table: string;
  readonly placement: 'by wallet' | 'on every node';
  /** False when the table already had this placement. */
  readonly moved: boolean;
};

/** @returns the number of active worker nodes; undefined when the database has no Citus */
export async function findCitusWorkers(db: Database): Promise<number | undefined> {
  const { rows } = await db.raw<{ rows: unknown[] }>("SELECT 1 FROM pg_extension WHERE extname = 'citus'");
  if (rows.length === 0) return undefined;
  const found = await db.raw<{ rows: [{ workers: number }] }>(
    'SELECT count(*)::int AS workers FROM citus_get_active_worker_nodes()',
  );
  return found.rows[0].workers;
}

/**
 * Distributes the tables of the index over the nodes of a Citus cluster; tables that are distributed already stay.
 * Existing rows are moved, and writes to their table wait meanwhile. Each table is its own transaction: run it again
 * after an interruption.
 * @param shards number of shards of each table that is distributed by wallet; they are colocated, so that one node
 *   answers a page
 * @param onTable called with the number of tables that are done
 */
export async function distributeIndex(
  db: Database,
  { shards, onTable }: { readonly shards: number; readonly onTable: (done: number, total: number) => void },
): Promise<Placement[]> {
  const placements: Placement[] = [];
  const total = byWallet.length + everywhere.length;
  const place = async (
    table: string,
    placement: Placement['placement'],
    sql: string,
    bindings: unknown[],
  ) => {
    const { rows } = await db.raw<{ rows: unknown[] }>(
      'SELECT 1 FROM pg_dist_partition WHERE logicalrelid = ?::regclass',
      [table],
    );
    if (rows.length === 0) await db.raw(sql, bindings as string[]); // texts and numbers, as raw takes them
    placements.push({ table, placement, moved: rows.length === 0 });
    onTable(placements.length, total);
  };
  for (const table of everywhere)
    await place(table, 'on every node', 'SELECT create_reference_table(?)', [table]);
  const [first, ...others] = byWallet;
  const spread =
    "SELECT create_distributed_table(?, 'wallet', shard_count => ?::int, colocate_with => 'none')";
  const beside = "SELECT create_distributed_table(?, 'wallet', colocate_with => ?)";
  await place(first, 'by wallet', spread, [first, shards]);
  for (const table of others) await place(table, 'by wallet', beside, [table, first]);
  return placements;
}
