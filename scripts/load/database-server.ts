import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { chmod, readFile } from 'node:fs/promises';
import path from 'node:path';
import { startOnFreePort } from '../../src/local/programs/ports.ts';
import { startPostgresServer } from '../../src/local/programs/postgres.ts';
import {
  findPostgresPlace,
  type PostgresPlace,
  removePostgresPlace,
} from '../../src/local/programs/postgres-place.ts';
import { isAlive, parentOf } from '../../src/local/programs/processes.ts';

/** A PostgreSQL of its own, whose committed data survive a crash. */
export type DatabaseServer = {
  /** Superuser's URL of its first database. */
  readonly url: string;
  /** Ends all its processes at once, as a lost machine does. */
  kill(): Promise<void>;
  /** Stops it orderly (SIGINT), or as in a crash (SIGQUIT). */
  stop(signal: 'SIGINT' | 'SIGQUIT'): Promise<void>;
  /** Starts it again on its data. */
  start(): Promise<void>;
  /** Stops all its processes, which keep their connections, until `thaw`. */
  freeze(): Promise<void>;
  thaw(): Promise<void>;
  /** Whether it has not ended by itself. */
  isRunning(): boolean;
  /** How often its log has these words. */
  logged(words: string): number;
  readonly place: PostgresPlace;
  /** Removes it with its data. */
  close(): Promise<void>;
};

// One that has been in use writes over its old files of WAL, which takes no time. A new one would make others of 16 MB and
// have commits wait for them, now and then for 100 ms.
const usual = ['max_connections=200', 'wal_keep_size=512MB', 'wal_init_zero=off'];
const password = 'load';

/**
 * @param folder where its data and its log are to be; readable for all
 * @param settings `name=value`
 */
export async function startDatabaseServer(folder: string, settings = usual): Promise<DatabaseServer> {
  mkdirSync(folder, { recursive: true });
  // As root the server runs as another user, who must be able to enter.
  await chmod(folder, 0o755);
  return serveDatabase(folder, findPostgresPlace(path.join(folder, 'postgres')), settings);
}

/** Starts a server on the data of a place, or on new data. */
export async function serveDatabase(
  folder: string,
  place: PostgresPlace,
  settings = usual,
): Promise<DatabaseServer> {
  const options = { place, password, settings, logFile: path.join(folder, 'postgres.log') };
  const state = { isRunning: false };
  const start = async (on: number) => {
    const started = await startPostgresServer({ ...options, port: on });
    state.isRunning = true;
    void started.ended.then(() => {
      state.isRunning = false;
    });
    return started;
  };
  // Another run on this machine must not take it while the server is down.
  const begun = await startOnFreePort(20_000 + (process.pid % 600) * 20, start);
  const { port } = begun;
  let server = begun.started;
  let stopped: number[] = [];
  const postmaster = async () =>
    Number((await readFile(path.join(place.data, 'postmaster.pid'), 'utf8')).split('\n')[0]);
  const pids = async () => familyOf(await postmaster());
  const signalAll = (all: readonly number[], signal: NodeJS.Signals) => {
    for (const pid of all) if (isAlive(pid)) process.kill(pid, signal);
  };
  const thaw = async () => signalAll(stopped.splice(0), 'SIGCONT');
  return {
    url: server.url,
    async kill() {
      const all = await pids();
      signalAll(all, 'SIGKILL');
      await server.ended;
    },
    async stop(signal) {
      process.kill(await postmaster(), signal);
      await server.ended;
    },
    async start() {
      server = await start(port);
    },
    isRunning: () => state.isRunning,
    logged: (words) => readFileSync(options.logFile, 'utf8').split(words).length - 1,
    place,
    async freeze() {
      stopped = await pids();
      signalAll(stopped, 'SIGSTOP');
    },
    thaw,
    async close() {
      await thaw();
      await server.stop();
      removePostgresPlace(path.join(folder, 'postgres'));
    },
  };
}

/** A process and the processes that it has started. */
function familyOf(pid: number): number[] {
  const all = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number);
  return [pid, ...all.filter((each) => parentOf(each) === pid)];
}
