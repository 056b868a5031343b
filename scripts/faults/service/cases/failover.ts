import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { createLogger } from '../../../../src/base/log.ts';
import { createDatabase } from '../../../../src/db/connection/connect.ts';
import { type Gate, startGate } from '../../../../test/keys/tcp-gate.ts';
import type { DatabaseServer } from '../../../load/database-server.ts';
import { startReplicaServer } from '../../../load/replica-server.ts';
import { until } from '../../../load/until.ts';
import { thisRelease } from '../../../load/world.ts';
import { runProgram } from '../../../run-program.ts';
import type { Fault, Stage } from '../fault.ts';

/** A server that follows the primary; what it is given can be cut off. */
type Follower = { readonly server: DatabaseServer; readonly line: Gate };

/** @returns as soon as it has what the primary has */
async function startFollower({ around }: Stage): Promise<Follower> {
  const line = await startGate(around.postgres().url);
  const db = around.openDatabase();
  const source = line.through(around.postgres().url);
  const folder = path.join(around.folder, `replica-${Date.now()}`);
  const server = await startReplicaServer(folder, { server: around.postgres(), db }, source);
  const { rows: present } = await db.raw('SELECT pg_current_wal_lsn()::text AS place');
  const followers = 'SELECT FROM pg_stat_replication WHERE replay_lsn >= ?::pg_lsn';
  const follows = async () => (await db.raw(followers, [present[0].place])).rows.length > 0;
  await until(follows, 'replicas that do not follow');
  await db.destroy();
  return { server, line };
}

const lagMs = 2_000;
const outageMs = 4_000;
const wayMs = 500;

/** How much of its log the replica lacks. */
async function bytesBehind({ around }: Stage, replica: DatabaseServer): Promise<number> {
  const log = createLogger({ level: 'silent' });
  const [primary, follower] = [around.openDatabase(), createDatabase(replica.url, { poolMax: 1, log })];
  const { rows: has } = await follower.raw('SELECT pg_last_wal_replay_lsn()::text AS place');
  const sql = 'SELECT (pg_current_wal_lsn() - ?::pg_lsn)::float8 AS bytes';
  const { rows: lacks } = await primary.raw(sql, [has[0].place]);
  await Promise.all([primary.destroy(), follower.destroy()]);
  return lacks[0].bytes;
}

async function promote({ around }: Stage, server: DatabaseServer): Promise<void> {
  around.promote(server);
  const db = around.openDatabase();
  await db.raw('SELECT pg_promote()');
  await db.destroy();
  around.wire.leadTo(server.url);
}

/** What operators do who know that the database went back: rebuild what it lacks from the chain, then let minting go on. */
async function recover({ around, service }: Stage): Promise<void> {
  // As the owner of the tables, since only the role for callers may make NFTs again.
  const owner = { DATABASE_URL: around.postgres().url };
  const env = { PATH: process.env['PATH'], ROLES: 'worker', ...around.settingsOf('worker'), ...owner };
  const run = () =>
    runProgram(process.execPath, ['src/cli.ts', 'recover', '--apply'], { env, cwd: thisRelease });
  // Until the newest mints are final.
  await until(() => run().then(Boolean, () => false), 'mints that `tallystick recover` does not recover');
  await service.restart('worker');
}

/** Afterwards the replica is the database. */
export const failover: Fault = {
  name: 'failover to a replica',
  about: `that lacks the commits of the last ${lagMs / 1_000} s`,
  seconds: 0,
  async begin(stage) {
    const { server, line } = await startFollower(stage);
    // Rows that were answered right before are perhaps still on their way.
    const cutAt = performance.now() - wayMs;
    line.refuse();
    await pause(lagMs);
    const behind = await bytesBehind(stage, server);
    await stage.around.postgres().kill();
    const killedAt = performance.now();
    await line.close();
    await pause(outageMs);
    await promote(stage, server);
    const endedAt = performance.now();
    return async () => {
      await recover(stage);
      const note = 'mints recovered by `tallystick recover`';
      return { acted: behind > 0, endedAt, lossBetween: [cutAt, killedAt], note };
    };
  },
};
