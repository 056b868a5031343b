import { execFile } from 'node:child_process';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { startGate } from '../../../../test/keys/tcp-gate.ts';
import type { DatabaseServer } from '../../../load/database-server.ts';
import { startReplicaServer } from '../../../load/replica-server.ts';
import type { Fault, Stage } from '../fault.ts';

const lagMs = 2_000;
const outageMs = 4_000;

/** Follows the primary; what it is given can be cut off. */
async function startFollower({ around }: Stage) {
  const line = await startGate(around.postgres().url);
  const db = around.openDatabase();
  const source = line.through(around.postgres().url);
  const folder = path.join(around.folder, `replica-${Date.now()}`);
  const server = await startReplicaServer(folder, { server: around.postgres(), db }, source);
  await untilFollowing(db);
  await db.destroy();
  return { server, line };
}

async function untilFollowing(db: ReturnType<Stage['around']['openDatabase']>): Promise<void> {
  const deadline = performance.now() + 30_000;
  for (;;) {
    const { rows } = await db.raw(
      'SELECT FROM pg_stat_replication WHERE replay_lsn >= pg_current_wal_lsn() - 16000::numeric',
    );
    if (rows.length > 0) return;
    if (performance.now() > deadline) throw new Error('The replica does not follow.');
    await pause(200);
  }
}

async function promote({ around }: Stage, server: DatabaseServer): Promise<void> {
  around.promote(server);
  const db = around.openDatabase();
  await db.raw('SELECT pg_promote()');
  await db.destroy();
  around.wire.leadTo(server.url);
}

/** What operators do who know that the database went back: rebuild what it lacks from the chain, then let minting go on. */
async function recover({ service }: Stage): Promise<string> {
  const env = { PATH: process.env['PATH'], ...service.settings('worker') };
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
    const cutAt = performance.now();
    line.refuse();
    await pause(lagMs);
    await stage.around.postgres().kill();
    const killedAt = performance.now();
    await line.close();
    await pause(outageMs);
    await promote(stage, server);
    const endedAt = performance.now();
    return async () => {
      const note = await recover(stage);
      return { endedAt, lossBetween: [cutAt, killedAt], note };
    };
  },
};
