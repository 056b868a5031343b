import { setTimeout as wait } from 'node:timers/promises';
import { errorText } from '../../base/thrown.ts';
import type { Database } from '../../contract/transaction.ts';
import { createDatabase } from '../../db/connection/connect.ts';
import {
  type Following,
  findUnreadable,
  type PrimaryState,
  readFollowing,
  readOrigin,
  type Unreadable,
} from '../../db/replica/replica-store.ts';
import { groupOf, privilegesOn, tableRights } from '../../db/schema/role-rights.ts';
import { explainDatabase } from '../shared/database-failure.ts';
import { type Finding, fault, ok, warning } from '../shared/finding.ts';
import type { DoctorParts } from './doctor-parts.ts';

const check = 'replica';
const lookMs = 25;
// Processes of the role 'api' read from it.
const readTables = Object.keys(tableRights).filter((table) => privilegesOn(table, 'api').includes('SELECT'));

/**
 * Reads whether the replica that the settings name follows this very database, has in time what is committed there, and lets
 * its user read. Nothing where none is named.
 */
export async function examineReplica({ db, config, log }: DoctorParts): Promise<Finding[]> {
  const url = config.DATABASE_REPLICA_URL;
  if (url === undefined) return [];
  const replica = createDatabase(url, { poolMax: config.DATABASE_POOL_MAX, log });
  try {
    const unreadable = await findUnreadable(replica, readTables);
    const origin = await readOrigin(db);
    const found = rightsFault(unreadable) ?? placeFault(await readFollowing(replica, origin), origin);
    if (found !== undefined) return [fault(check, found)];
    return [await examineLag(replica, origin, config.fixed.replicaMaxLagMs)];
  } catch (error) {
    const origin = { url, local: false, setting: 'DATABASE_REPLICA_URL' };
    return [fault(check, explainDatabase(error, origin) ?? errorText(error))];
  } finally {
    await replica.destroy();
  }
}

function placeFault({ isReplica, cluster, database }: Following, own: PrimaryState): string | undefined {
  if (!isReplica)
    return 'it takes writes, so it follows nothing (any more): let DATABASE_REPLICA_URL name a server that follows the database';
  if (cluster !== own.cluster)
    return 'it follows another server than that of DATABASE_URL: correct DATABASE_REPLICA_URL';
  if (database !== own.database)
    return `it is the database "${database}", not "${own.database}": correct the database in DATABASE_REPLICA_URL`;
  return undefined;
}

function rightsFault({ user, tables: [first, ...more] }: Unreadable): string | undefined {
  if (first === undefined) return undefined;
  const tables = more.length === 0 ? first : `${first} and ${more.length} more tables`;
  return `its user ${user} may not read ${tables}, or the database there is another one: GRANT ${groupOf('api')} TO ${user}, on the primary, or correct DATABASE_REPLICA_URL`;
}

/** Waits until the replica has what the database had, for as long as it may be behind. */
async function examineLag(replica: Database, origin: PrimaryState, mostMs: number): Promise<Finding> {
  const began = performance.now();
  const lagMs = () => Math.ceil(performance.now() - began);
  do {
    if ((await readFollowing(replica, origin)).hasReached)
      return ok(check, `follows this database, ${lagMs()} ms behind`);
    await wait(lookMs);
  } while (lagMs() < mostMs);
  return warning(
    check,
    `it did not get in ${mostMs / 1_000} s what was committed here, so reads go to the primary: let it catch up`,
  );
}
