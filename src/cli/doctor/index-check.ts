import { sessionUrlOf } from '../../compose/connections.ts';
import type { Database } from '../../contract/transaction.ts';
import { createDatabase } from '../../db/connection/connect.ts';
import { findFrozenNodes, isInCluster } from '../../providers/indexer/store/write/cluster-node-store.ts';
import { listIndexStates } from '../../providers/indexer/store/write/index-state-store.ts';
import { type Finding, fault, ok, warning } from '../shared/finding.ts';
import type { DoctorParts } from './doctor-parts.ts';

/** Returns a fault for each index that is stuck, and a warning for each that fails. */
export async function examineIndexes(db: Database): Promise<Finding[]> {
  return (await listIndexStates(db)).flatMap(({ chainId, stuck, lastError }) => {
    const check = `index ${chainId}`;
    if (stuck !== undefined) return [fault(check, `stuck: ${stuck.reason}`)];
    return lastError === undefined
      ? []
      : [warning(check, `failing since the last try at ${lastError.at.toISOString()}: ${lastError.message}`)];
  });
}

// As long as a busy worker may need for a connection.
const answerMs = 2_000;

/** Names the workers of a cluster that do not answer; nothing where the database is a single server. */
export async function examineCluster({
  db,
  config,
  log,
}: Pick<DoctorParts, 'db' | 'config' | 'log'>): Promise<Finding[]> {
  if (!(await isInCluster(db))) return [];
  const session = createDatabase(sessionUrlOf(config), { poolMax: 1, log });
  try {
    const silent = [...(await findFrozenNodes(session, answerMs))];
    if (silent.length === 0) return [ok('cluster', 'every worker answers')];
    return [fault('cluster', `workers that are stopped or frozen: ${silent.join(', ')}; start them again`)];
  } finally {
    await session.destroy();
  }
}
