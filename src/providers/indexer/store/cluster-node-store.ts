import type { Database } from '../../../contract/transaction.ts';
import { inTransaction } from '../../../db/transaction.ts';

/*
 * Catalogue of a Citus cluster: which node has the rows of a wallet, which is the same for every table of the index, and
 * whether a node answers. The coordinator knows it, so none of it waits for a node but the last.
 */

/** `host:port`, as the coordinator reaches it. */
export type ClusterNode = string;

/** The nodes that have wallets; none where the index lies on one server. */
export async function listWalletNodes(db: Database): Promise<ClusterNode[]> {
  const { rows } = await db.raw<{ rows: unknown[] }>("SELECT 1 FROM pg_extension WHERE extname = 'citus'");
  if (rows.length === 0) return [];
  const found = await db.raw<{ rows: { node: ClusterNode }[] }>(
    `SELECT DISTINCT nodename || ':' || nodeport AS node FROM pg_dist_shard_placement JOIN pg_dist_shard USING (shardid)
     WHERE logicalrelid = to_regclass('wallet_history') ORDER BY node`,
  );
  return found.rows.map(({ node }) => node);
}

/** The nodes of these wallets, which are in lower case; of none where the index lies on one server by now. */
export async function findNodesOf(
  db: Database,
  wallets: readonly string[],
): Promise<ReadonlyMap<string, ClusterNode>> {
  const { rows } = await db.raw<{ rows: { wallet: string; node: ClusterNode }[] }>(
    `SELECT wallet, nodename || ':' || nodeport AS node FROM unnest(?::text[]) wallet JOIN pg_dist_shard_placement
       ON shardid = get_shard_id_for_distribution_column('wallet_history', decode(substr(wallet, 3), 'hex'))`,
    [[...wallets]],
  );
  return new Map(rows.map(({ wallet, node }) => [wallet, node]));
}

/** Whether a node takes a connection of the coordinator in time; a statement on one that it has could wait for ever. */
export async function isNodeAnswering(db: Database, node: ClusterNode, limitMs: number): Promise<boolean> {
  const colon = node.lastIndexOf(':');
  return inTransaction(db, async (tx) => {
    await tx.raw("SELECT set_config('citus.node_connection_timeout', ?, true)", [String(limitMs)]);
    const { rows } = await tx.raw<{ rows: { answers: boolean }[] }>(
      'SELECT citus_check_connection_to_node(?, ?::int) AS answers',
      [node.slice(0, colon), node.slice(colon + 1)],
    );
    return rows[0]?.answers ?? false;
  });
}
