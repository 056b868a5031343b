import type { Database } from '../../../../contract/transaction.ts';
import { inTransaction } from '../../../../db/connection/transaction.ts';

/* Catalogue of a Citus cluster, which the coordinator knows: which node has the rows of a wallet. */

/** `host:port`, as the coordinator reaches it. */
export type ClusterNode = string;

/** Returns whether the index lies in a cluster. */
export async function isInCluster(db: Database): Promise<boolean> {
  const { rows } = await db.raw<{ rows: unknown[] }>("SELECT 1 FROM pg_extension WHERE extname = 'citus'");
  return rows.length > 0;
}

/**
 * Returns the nodes of a cluster with wallets that accept no connection of the coordinator in time.
 * @param db with a new session: a session that is connected to a frozen node waits for it
 */
export function findFrozenNodes(db: Database, limitMs: number): Promise<ReadonlySet<ClusterNode>> {
  return inTransaction(db, async (tx) => {
    await tx.raw("SELECT set_config('citus.node_connection_timeout', ?, true)", [String(limitMs)]);
    const { rows } = await tx.raw<{ rows: { node: ClusterNode }[] }>(
      `SELECT nodename || ':' || nodeport AS node
       FROM (SELECT DISTINCT nodename, nodeport FROM pg_dist_shard_placement JOIN pg_dist_shard USING (shardid)
         WHERE logicalrelid = to_regclass('wallet_history')) AS nodes
       WHERE NOT citus_check_connection_to_node(nodename, nodeport::int) ORDER BY node`,
    );
    return new Set(rows.map(({ node }) => node));
  });
}

/** Finds the node of a wallet in lower case. Asks no node. */
export async function findNodeOf(db: Database, wallet: string): Promise<ClusterNode | undefined> {
  const { rows } = await db.raw<{ rows: { node: ClusterNode }[] }>(
    `SELECT nodename || ':' || nodeport AS node FROM pg_dist_shard_placement
     WHERE shardid = get_shard_id_for_distribution_column('wallet_history', decode(substr(?, 3), 'hex'))`,
    [wallet],
  );
  return rows[0]?.node;
}
