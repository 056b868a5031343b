import { execFile } from 'node:child_process';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
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
  around.wire.leadTo(server.url);
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
