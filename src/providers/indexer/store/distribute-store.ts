import type { Database } from '../../../contract/transaction.ts';

/** Tables that grow with the chain: a row belongs to a wallet, and each page is of one wallet. */
const byWallet = ['wallet_history', 'nft_changes', 'nft_holdings'] as const;

/** Tables that a page or a write of any wallet may need: small beside the others, so every node has them whole. */
const everywhere = [
  'index_state',
  'index_blocks',
  'index_skipped_logs',
  'token_contracts',
  'nft_tokens',
  'nft_refreshes',
] as const;

/** Every table of the index. */
export const indexTables: readonly string[] = [...byWallet, ...everywhere];

/** Where a table of the index lies in a cluster of Citus. */
export type Placement = {
  readonly table: string;
  readonly placement: 'by wallet' | 'on every node';
  /** False when it lay there before. */
  readonly moved: boolean;
};

/** @returns the worker nodes of the cluster; undefined when the database has no Citus */
export async function findCitusWorkers(db: Database): Promise<number | undefined> {
  const { rows } = await db.raw<{ rows: unknown[] }>("SELECT 1 FROM pg_extension WHERE extname = 'citus'");
  if (rows.length === 0) return undefined;
  const found = await db.raw<{ rows: [{ workers: number }] }>(
    'SELECT count(*)::int AS workers FROM citus_get_active_worker_nodes()',
  );
  return found.rows[0].workers;
}

/**
 * Spreads the tables of the index over the nodes of a cluster; what lies there already stays. Rows that a
 * table has are moved, and writes to it wait meanwhile. Each table is a transaction of its own: run it again
 * when it was interrupted.
 * @param shards of each table that is spread by wallet; they lie together, so that a page is of one node
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
