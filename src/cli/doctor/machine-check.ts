import { access } from 'node:fs/promises';
import path from 'node:path';
import type { Config } from '../../config/config.ts';
import type { Database } from '../../contract/transaction.ts';
import { findClockLead, findOldestSnapshot } from '../../db/schema/inspect.ts';
import { portalDirectory } from '../../http/mounts/portal-files.ts';
import type { Finding } from '../shared/finding.ts';

// Leases of lanes and indexes end after 15 s by the clock of the database; tokens and windows by that of the process.
const mostLeadMs = 2_000;

/** Whether this machine and the database agree on the time. */
export async function examineClock(db: Database): Promise<Finding> {
  const lead = await findClockLead(db);
  if (Math.abs(lead) <= mostLeadMs)
    return { check: 'clock', state: 'ok', detail: 'this machine and the database agree on the time' };
  const side = lead > 0 ? 'behind' : 'ahead of';
  const seconds = (Math.abs(lead) / 1_000).toFixed(1);
  const detail = `this machine is ${seconds} s ${side} the database: let both follow a time server (NTP)`;
  return { check: 'clock', state: 'warning', detail };
}

// A statement of the service ends after half a minute, and a dump of a small database soon after.
const mostSnapshotMinutes = 5;

/** Whether an old snapshot keeps the server from removing what has died, so that what is written often gets slower by the hour. */
export async function examineSnapshots(db: Database): Promise<Finding> {
  const check = 'snapshots';
  const oldest = await findOldestSnapshot(db);
  if (oldest === undefined || oldest.minutes < mostSnapshotMinutes)
    return { check, state: 'ok', detail: 'nothing that this user sees keeps dead rows for long' };
  const { minutes, of } = oldest;
  const detail = `${of} has kept dead rows for ${minutes} minutes, so counters and busy keys get slower: end it, or back up from a replica`;
  return { check, state: 'warning', detail };
}

/** Whether the portal is there that this release serves; nothing where callers are not served. */
export async function examinePortal({ ROLES }: Config, directory = portalDirectory): Promise<Finding[]> {
  if (!ROLES.includes('api')) return [];
  const check = 'portal';
  try {
    await access(path.join(directory, 'manifest.json'));
    return [{ check, state: 'ok', detail: 'is built' }];
  } catch {
    const detail = `is not built, so /docs is 503: npm run docs (with development dependencies), into ${directory}`;
    return [{ check, state: 'warning', detail }];
  }
}
