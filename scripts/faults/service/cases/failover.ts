import { execFile } from 'node:child_process';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { createLogger } from '../../../../src/base/log.ts';
import { createDatabase } from '../../../../src/db/connection/connect.ts';
import type { DatabaseServer } from '../../../load/database-server.ts';
import type { Fault, Stage } from '../fault.ts';
import { startFollower } from '../follower.ts';

const lagMs = 2_000;
const outageMs = 4_000;
const wayMs = 500;

async function promote({ around }: Stage, server: DatabaseServer): Promise<void> {
  around.promote(server);
  const db = around.openDatabase();
  await db.raw('SELECT pg_promote()');
  await db.destroy();
  await around.wire.leadTo(server.url);
}

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

/** What operators do who know that the database went back: rebuild what it lacks from the chain, then let minting go on. */
async function recover({ around, service }: Stage): Promise<string> {
  // As the owner of the tables, since no role of the service may make NFTs anew but the one for callers.
  const owner = { DATABASE_URL: around.postgres().url };
  const env = { PATH: process.env['PATH'], ...service.settings('worker'), ...owner };
  const run = () => promisify(execFile)(process.execPath, ['src/cli.ts', 'recover', '--apply'], { env });
  const deadline = performance.now() + patienceMs;
  for (;;) {
    const failure = await run().then(
      () => undefined,
      (error: Error) => error.message,
    );
    if (failure !== undefined && performance.now() < deadline) continue;
    await service.restart('worker');
    return failure === undefined
      ? 'mints recovered by `tallystick recover`'
      : `recover failed: ${failure.slice(-300)}`;
  }
}

// Until the newest mints are final.
const patienceMs = 120_000;

/** It is run last: afterwards the replica is the database. */
export const failover: Fault = {
  name: 'failover to a replica',
  about: `that lacks the commits of the last ${lagMs / 1_000} s`,
  seconds: 0,
  async begin(stage) {
    const { server, line } = await startFollower(stage);
    // What was answered right before is perhaps still on its way.
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
      const note = await recover(stage);
      return { acted: behind > 0, endedAt, lossBetween: [cutAt, killedAt], note };
    };
  },
};
