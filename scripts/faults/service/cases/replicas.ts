import { setTimeout as pause } from 'node:timers/promises';
import { createLogger } from '../../../../src/base/log.ts';
import { createDatabase } from '../../../../src/db/connection/connect.ts';
import type { Replica } from '../../../load/replica.ts';
import { asRole } from '../../../load/surroundings.ts';
import type { Fault, Stage } from '../fault.ts';
import { startFollower } from '../follower.ts';
import { answersSoon, metricOf } from '../proofs.ts';

const followers = new WeakMap<Stage, Awaited<ReturnType<typeof startFollower>>>();

/** Starts a replica, which the processes of callers read from. */
async function prepare(stage: Stage) {
  const follower = await startFollower(stage);
  followers.set(stage, follower);
  await stage.service.change({ settings: { DATABASE_REPLICA_URL: asRole(follower.server.url, 'api') } });
  await Promise.all(stage.service.apis().map(untilUsed));
  return async () => {
    await follower.server.close();
    await follower.line.close();
  };
}

async function untilUsed(api: Replica): Promise<void> {
  const deadline = performance.now() + 30_000;
  while (!(await isUsed(api))) {
    if (performance.now() > deadline) throw new Error('The replica is not read from.');
    await pause(200);
  }
}

const isUsed = async (api: Replica) => (await metricOf(api, 'tallystick_replica_used')) === 1;

/** Whether no process of callers reads from the replica any more. */
async function isLeft({ service }: Stage): Promise<boolean> {
  const used = await Promise.all(service.apis().map(isUsed));
  return !used.includes(true);
}

function serverOf(stage: Stage) {
  const follower = followers.get(stage);
  if (follower === undefined) throw new Error('No replica was started.');
  return follower.server;
}

async function pauseReplay(stage: Stage): Promise<void> {
  const db = createDatabase(serverOf(stage).url, { poolMax: 1, log: createLogger({ level: 'silent' }) });
  await db.raw('SELECT pg_wal_replay_pause()');
  await db.destroy();
}

/** What the processes of callers read from, beside the primary. */
export const replicaFaults: readonly Fault[] = [
  {
    ...{ name: 'replica frozen', about: 'all its processes stopped, connections stay', seconds: 15, prepare },
    async begin(stage) {
      await serverOf(stage).freeze();
      const isFrozen = !(await answersSoon(serverOf(stage).url));
      return async () => {
        const acted = isFrozen && (await isLeft(stage));
        await serverOf(stage).thaw();
        return { acted };
      };
    },
  },
  {
    ...{ name: 'replica lags for good', about: 'replays nothing any more', seconds: 15, prepare },
    isLasting: true,
    async begin(stage) {
      await pauseReplay(stage);
      return async () => ({ acted: await isLeft(stage) });
    },
  },
];
