import { access } from 'node:fs/promises';
import path from 'node:path';
import type { Config } from '../../config/config.ts';
import type { Database } from '../../contract/transaction.ts';
import { findClockLead, findOldestSnapshot, findServerConnections } from '../../db/schema/inspect.ts';
import { portalDirectories } from '../../http/mounts/portal-files.ts';
import { type Finding, ok, warning } from '../shared/finding.ts';

// Leases of lanes and indexes end after 15 s by the clock of the database. Tokens and windows end by the clock of the
// process.
const mostLeadMs = 2_000;

/** Whether this machine and the database agree on the time. */
export async function examineClock(db: Database): Promise<Finding> {
  const lead = await findClockLead(db);
  if (Math.abs(lead) <= mostLeadMs) return ok('clock', 'this machine and the database agree on the time');
  const side = lead > 0 ? 'behind' : 'ahead of';
  const seconds = (Math.abs(lead) / 1_000).toFixed(1);
  return warning(
    'clock',
    `this machine is ${seconds} s ${side} the database: let both follow a time server (NTP)`,
  );
}

// A statement of the service ends after half a minute, and a dump of a small database soon after.
const mostSnapshotMinutes = 5;

/**
 * Reports whether an old snapshot keeps the server from removing dead rows. Tables with many writes then get slower by
 * the hour.
 */
export async function examineSnapshots(db: Database): Promise<Finding> {
  const oldest = await findOldestSnapshot(db);
  if (oldest === undefined || oldest.minutes < mostSnapshotMinutes)
    return ok('snapshots', 'nothing that this user sees keeps dead rows for long');
  const { minutes, of } = oldest;
  return warning(
    'snapshots',
    `${of} has kept dead rows for ${minutes} minutes, so counters and busy keys get slower: end it, or back up from a replica`,
  );
}

/** Whether the portal is there that this release serves; nothing where callers are not served. */
export async function examinePortal(
  { ROLES }: Config,
  directory: string = portalDirectories.all,
): Promise<Finding[]> {
  if (!ROLES.includes('api')) return [];
  try {
    await access(path.join(directory, 'manifest.json'));
    return [ok('portal', 'is built')];
  } catch {
    return [
      warning(
        'portal',
        `is not built, so /docs is 503: npm run docs (with development dependencies), into ${directory}`,
      ),
    ];
  }
}

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
