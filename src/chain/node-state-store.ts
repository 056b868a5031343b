import type { Database } from '../contract/transaction.ts';

/** What the processes of the service think of one node; `node` is its URL without secret parts. */
export type NodeStateRow = {
  readonly chainId: string;
  readonly node: string;
  readonly state: string;
  readonly reason: string;
  readonly since: Date;
};

const table = 'node_states';

/** Stores a changed state. A state that is stored already keeps its time; an older one replaces nothing. */
export async function saveNodeState(db: Database, row: NodeStateRow): Promise<void> {
  await db.raw(
    `INSERT INTO ${table} AS stored (chain_id, node, state, reason, since)
     SELECT chain_id, :node, :state, :reason, :since FROM networks WHERE chain_id = :chainId
     ON CONFLICT (chain_id, node) DO UPDATE SET state = excluded.state, reason = excluded.reason,
       since = CASE WHEN stored.state = excluded.state THEN stored.since ELSE excluded.since END
     WHERE stored.since <= excluded.since`,
    row,
  );
}

/** The stored states of a network's nodes, also of nodes that it no longer has. */
export async function listNodeStates(db: Database, chainId: string): Promise<NodeStateRow[]> {
  const rows: Omit<NodeStateRow, 'chainId'>[] = await db(table)
    .select('node', 'state', 'reason', 'since')
    .where({ chain_id: chainId });
  return rows.map((row) => ({ ...row, chainId }));
}
