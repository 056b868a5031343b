import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { type Gate, startGate } from '../../../test/keys/tcp-gate.ts';
import type { DatabaseServer } from '../../load/database-server.ts';
import { startReplicaServer } from '../../load/replica-server.ts';
import type { Stage } from './fault.ts';

/** A server that follows the primary; what it is given can be cut off. */
export type Follower = { readonly server: DatabaseServer; readonly line: Gate };

/** @returns as soon as it has what the primary has */
export async function startFollower({ around }: Stage): Promise<Follower> {
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
  const { rows: present } = await db.raw('SELECT pg_current_wal_lsn()::text AS place');
  for (;;) {
    const { rows } = await db.raw('SELECT FROM pg_stat_replication WHERE replay_lsn >= ?::pg_lsn', [
      present[0].place,
    ]);
    if (rows.length > 0) return;
    if (performance.now() > deadline) throw new Error('The replica does not follow.');
    await pause(200);
  }
}
