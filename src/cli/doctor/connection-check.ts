import type { Config } from '../../config/config.ts';
import type { Database } from '../../contract/transaction.ts';
import { findServerConnections } from '../../db/schema/inspect.ts';
import { type Finding, ok, warning } from '../shared/finding.ts';

// The connection that listens for notifications.
const besidePool = 1;

/** Whether the server has room for what one process of these settings opens. */
export async function examineConnections(db: Database, config: Config): Promise<Finding> {
  const wanted = config.DATABASE_POOL_MAX + besidePool;
  const { most, used } = await findServerConnections(db);
  const detail = `a process opens up to ${wanted} of the server's ${most}, of which ${used} are in use`;
  // With a pooler, what the server has is the pooler's to share out.
  if (config.DATABASE_SESSION_URL !== undefined || wanted <= most - used) return ok('connections', detail);
  return warning('connections', `${detail}; lower DATABASE_POOL_MAX or raise max_connections`);
}
