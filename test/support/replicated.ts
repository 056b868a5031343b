import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type DatabaseServer, startDatabaseServer } from '../../scripts/load/database-server.ts';
import { startReplicaServer } from '../../scripts/load/replica-server.ts';
import { createLogger } from '../../src/base/log.ts';
import { createDatabase } from '../../src/db/connection/connect.ts';
import { type Gate, startGate } from '../keys/tcp-gate.ts';
import { createTemplate, createTestDatabase, type TestDatabase } from './database.ts';

/** A database with a streaming replica of its server. */
export type Replicated = {
  readonly database: TestDatabase;
  readonly replica: DatabaseServer;
  /** What callers reach the replica through. */
  readonly gate: Gate;
  /** The database at the replica, by way of the gate, as its owner. */
  readonly replicaUrl: string;
  /** Starts a replica of another cluster with a database of this name, for the gate to lead to. */
  startForeign(): Promise<DatabaseServer>;
  close(): Promise<void>;
};

export async function startReplicated(): Promise<Replicated> {
  const log = createLogger({ level: 'silent' });
  await using opened = new AsyncDisposableStack();
  const folder = opened.adopt(await mkdtemp(path.join(tmpdir(), 'tallystick-replica-')), (made) =>
    rm(made, { recursive: true, force: true }),
  );
  // As root the servers run as another user, who must be able to enter.
  await chmod(folder, 0o755);
  const startPair = async (
    into: AsyncDisposableStack,
    name: string,
    prepare: (serverUrl: string) => Promise<unknown>,
  ) => {
    const server = into.adopt(await startDatabaseServer(path.join(folder, name)), (each) => each.close());
    await prepare(server.url);
    const db = createDatabase(server.url, { poolMax: 2, log });
    const follow = () => startReplicaServer(path.join(folder, `${name}-replica`), { server, db }, server.url);
    const replica = into.adopt(await follow(), (each) => each.close());
    await db.destroy();
    return { server, replica };
  };
  const { server, replica } = await startPair(opened, 'own', createTemplate);
  const database = opened.adopt(await createTestDatabase(server.url), (each) => each.close());
  const gate = opened.adopt(await startGate(replica.url), (each) => each.close());
  const replicaUrl = new URL(gate.through(replica.url));
  replicaUrl.pathname = new URL(database.url).pathname;
  const alike = async (serverUrl: string) => {
    await createTemplate(serverUrl);
    const db = createDatabase(serverUrl, { poolMax: 1, log });
    await db.raw(`CREATE DATABASE ${replicaUrl.pathname.slice(1)} TEMPLATE tallystick_template`);
    await db.destroy();
  };
  const kept = opened.move();
  return {
    database,
    replica,
    gate,
    replicaUrl: replicaUrl.href,
    startForeign: async () => (await startPair(kept, 'foreign', alike)).replica,
    close: () => kept.disposeAsync(),
  };
}
