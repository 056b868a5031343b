import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type DatabaseServer, startDatabaseServer } from '../../scripts/load/database-server.ts';

export type TestPostgres = DatabaseServer & {
  /** Does one after the other. */
  restart(signal: 'SIGINT' | 'SIGQUIT'): Promise<void>;
};

/** Finds a port that is free at this moment. */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address ? address.port : 0));
    });
  });
}

// The data are deleted afterwards, so nothing has to wait for the disk.
const throwAway = ['fsync=off', 'full_page_writes=off', 'max_connections=300'];

/**
 * Starts a real PostgreSQL server in a temporary folder, which `close` deletes. `url` names its first database.
 * @param options.isDurable whether committed data survive a crash of the server
 * @param options.settings server settings as `name=value`; they win over the defaults of tests
 */
export async function startPostgres({
  isDurable = false,
  settings = [],
}: {
  isDurable?: boolean;
  settings?: readonly string[];
} = {}): Promise<TestPostgres> {
  const directory = await mkdtemp(path.join(tmpdir(), 'tallystick-pg-'));
  const durability = `synchronous_commit=${isDurable ? 'on' : 'off'}`;
  const server = await startDatabaseServer(directory, [...throwAway, durability, ...settings]);
  return {
    ...server,
    async restart(signal) {
      await server.stop(signal);
      await server.start();
    },
    async close() {
      await server.close();
      await rm(directory, { recursive: true, force: true });
    },
  };
}
