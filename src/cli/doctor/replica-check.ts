import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { errorText } from '../../base/thrown.ts';
import type { Database } from '../../contract/transaction.ts';
import { createDatabase } from '../../db/connection/connect.ts';
import {
  endBeats,
  findUnreadable,
  type ReplicaAnswer,
  readBeat,
  storeBeat,
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
 * Tries the replica that the settings name as the service uses it: whether it follows this very database, shows in time
 * what is committed there, and lets its user read. Nothing where none is named.
 */
export async function examineReplica({ db, config, log }: DoctorParts): Promise<Finding[]> {
  const url = config.DATABASE_REPLICA_URL;
  if (url === undefined) return [];
  const replica = createDatabase(url, { poolMax: config.DATABASE_POOL_MAX, log });
  const beats = randomUUID();
  try {
    const cluster = await storeBeat(db, beats, 1);
    const unreadable = await findUnreadable(replica, readTables);
    const found = rightsFault(unreadable) ?? placeFault(await readBeat(replica, beats), cluster);
    if (found !== undefined) return [fault(check, found)];
    return [await examineLag(db, { replica, beats, mostMs: config.fixed.replicaMaxLagMs })];
  } catch (error) {
    const origin = { url, local: false, setting: 'DATABASE_REPLICA_URL' };
    return [fault(check, explainDatabase(error, origin) ?? errorText(error))];
  } finally {
    await endBeats(db, beats).catch(() => {}); // whoever ends next deletes it
    await replica.destroy();
  }
}

function placeFault({ isReplica, cluster }: ReplicaAnswer, own: string): string | undefined {
  if (!isReplica)
    return 'it takes writes, so it follows nothing (any more): let DATABASE_REPLICA_URL name a server that follows the database';
  if (cluster !== own)
    return 'it follows another server than that of DATABASE_URL: correct DATABASE_REPLICA_URL';
  return undefined;
}

function rightsFault({ user, tables: [first, ...more] }: Unreadable): string | undefined {
  if (first === undefined) return undefined;
  const tables = more.length === 0 ? first : `${first} and ${more.length} more tables`;
  return `its user ${user} may not read ${tables}, or the database there is another one: GRANT ${groupOf('api')} TO ${user}, on the primary, or correct DATABASE_REPLICA_URL`;
}

type Following = {
  readonly replica: Database;
  /** Who beats, here. */
  readonly beats: string;
  /** How far the replica may be behind, in milliseconds. */
  readonly mostMs: number;
};

/** Waits for a beat to arrive, for as long as the replica may be behind. */
async function examineLag(db: Database, { replica, beats, mostMs }: Following): Promise<Finding> {
  await storeBeat(db, beats, 2);
  const committed = performance.now();
  const lagMs = () => Math.ceil(performance.now() - committed);
  do {
    if ((await readBeat(replica, beats)).beat === 2)
      return ok(check, `follows this database, ${lagMs()} ms behind`);
    await wait(lookMs);
  } while (lagMs() < mostMs);
  return warning(
    check,
    `it did not show in ${mostMs / 1_000} s what was committed here, so reads go to the primary: let it catch up, ` +
      'or correct the database in DATABASE_REPLICA_URL',
  );
}
