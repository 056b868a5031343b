import type { Database } from '../../../../contract/transaction.ts';

/** Tables that grow with the chain. Each row belongs to a wallet, and each page reads one wallet. */
export const byWallet = [
  ...(['wallet_history', 'history_facets', 'nft_changes', 'nft_holdings'] as const),
  ...(['block_credits', 'native_sums', 'approval_changes', 'wallet_approvals'] as const),
] as const;

/** Tables that any page or write may need. They are smaller than the others, so every node has a copy. */
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
 * Returns over how many shards each table that lies by wallet is spread.
 * @returns undefined when the index is not spread, or the database has no Citus
 */
export async function findShards(db: Database): Promise<number | undefined> {
  if ((await findCitusWorkers(db)) === undefined) return undefined;
  const { rows } = await db.raw<{ rows: [{ shards: number }] }>(
    'SELECT count(*)::int AS shards FROM pg_dist_shard WHERE logicalrelid = to_regclass(?)',
    [byWallet[0]],
  );
  return rows[0].shards === 0 ? undefined : rows[0].shards;
}

type DistributeOptions = {
  /** Shards of each table that is distributed by wallet. They are colocated, so one node answers a page. */
  readonly shards: number;
  /** Called with the number of tables that are done, and of all. */
  readonly onTable: (done: number, total: number) => void;
};

/**
 * Distributes the tables of the index over the nodes of a Citus cluster. Tables that are distributed already keep
 * their shards. Existing rows are moved, and writes to their table wait meanwhile. Rows that Citus leaves on the
 * coordinator, where nothing reads them, are removed. Each table is its own transaction: run it again after an
 * interruption.
 */
export async function distributeIndex(
  db: Database,
  { shards, onTable }: DistributeOptions,
): Promise<Placement[]> {
  const placements: Placement[] = [];
  const tables = await findTables(db);
  const place = async (table: string, placement: Placement['placement'], sql: string, ...values: Value[]) => {
    const isPlaced = tables.get(table);
    if (isPlaced === undefined) return;
    if (!isPlaced) await db.raw(sql, [table, ...values]);
    await db.raw('SELECT truncate_local_data_after_distributing_table(?)', [table]);
    placements.push({ table, placement, moved: !isPlaced });
    onTable(placements.length, tables.size);
  };
  for (const table of everywhere) await place(table, 'on every node', 'SELECT create_reference_table(?)');
  const [first, ...others] = byWallet;
  const spread =
    "SELECT create_distributed_table(?, 'wallet', shard_count => ?::int, colocate_with => 'none')";
  const beside = "SELECT create_distributed_table(?, 'wallet', colocate_with => ?)";
  await place(first, 'by wallet', spread, shards);
  for (const table of others) await place(table, 'by wallet', beside, first);
  return placements;
}

type Value = string | number;

/** The tables of the index that there are, and whether each is distributed. */
async function findTables(db: Database): Promise<ReadonlyMap<string, boolean>> {
  const { rows } = await db.raw<{ rows: { name: string; isPlaced: boolean }[] }>(
    `SELECT name, p.logicalrelid IS NOT NULL AS "isPlaced"
     FROM unnest(?::text[]) AS t (name) LEFT JOIN pg_dist_partition p ON p.logicalrelid = to_regclass(name)
     WHERE to_regclass(name) IS NOT NULL`,
    [[...indexTables]],
  );
  return new Map(rows.map(({ name, isPlaced }) => [name, isPlaced]));
}
