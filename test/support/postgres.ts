import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { startPostgresServer } from '../../src/local/programs/postgres.ts';
import { findPostgresPlace, removePostgresPlace } from '../../src/local/programs/postgres-place.ts';

export type TestPostgres = {
  readonly url: string;
  /** Stops it orderly (SIGINT) or as in a crash (SIGQUIT). */
  stop(signal: 'SIGINT' | 'SIGQUIT'): Promise<void>;
  /** Starts it again on its data. */
  start(): Promise<void>;
  /** Does one after the other. */
  restart(signal: 'SIGINT' | 'SIGQUIT'): Promise<void>;
  close(): Promise<void>;
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
  // When root runs the tests, the server runs as another user, who needs access to the folder.
  await chmod(directory, 0o755);
  const wanted = path.join(directory, 'postgres');
  const options = {
    place: findPostgresPlace(wanted),
    port: await freePort(),
    password: 'postgres',
    settings: [...throwAway, `synchronous_commit=${isDurable ? 'on' : 'off'}`, ...settings],
    logFile: path.join(directory, 'postgres.log'),
  };
  let server = await startPostgresServer(options);
  const stop = async (signal: 'SIGINT' | 'SIGQUIT') => {
    const [pid] = (await readFile(path.join(options.place.data, 'postmaster.pid'), 'utf8')).split('\n');
    process.kill(Number(pid), signal);
    await server.ended;
  };
  const start = async () => {
    server = await startPostgresServer(options);
  };
  return {
    url: server.url,
    stop,
    start,
    async restart(signal) {
      await stop(signal);
      await start();
    },
    async close() {
      await server.stop();
      removePostgresPlace(wanted);
      await rm(directory, { recursive: true, force: true });
    },
  };
}
