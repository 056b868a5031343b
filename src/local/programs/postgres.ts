import { randomUUID } from 'node:crypto';
import { chownSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { LocalError } from './local-error.ts';
import type { PostgresPlace } from './postgres-place.ts';
import { startSupervised, untilReady } from './supervisor.ts';

const user = 'tallystick';

export type PostgresOptions = {
  readonly place: PostgresPlace;
  readonly port: number;
  readonly password: string;
  /** `name=value`, in addition to the settings of every local server. */
  readonly settings: readonly string[];
  readonly logFile: string;
};

export type PostgresServer = {
  /** Connects as superuser to the first database of the server. */
  readonly url: string;
  readonly ended: Promise<number>;
  stop(): Promise<void>;
};

/** Whether a server has created its data here. */
export function hasData({ data }: PostgresPlace): boolean {
  return existsSync(path.join(data, 'PG_VERSION'));
}

/**
 * Starts the installed PostgreSQL on the loopback address, with new data if there are none. The server ends with
 * this process, whatever ends it.
 * @throws LocalError when it does not start
 */
export async function startPostgresServer(options: PostgresOptions): Promise<PostgresServer> {
  if (!hasData(options.place)) await makeData(options);
  const { place, port, password, settings, logFile } = options;
  const statusFile = path.join(place.data, 'postmaster.pid');
  // No server runs on these data any more, but another program may have got the process id in this file.
  rmSync(statusFile, { force: true });
  const common = [
    'listen_addresses=127.0.0.1',
    'unix_socket_directories=',
    'timezone=UTC',
    'log_timezone=UTC',
  ];
  const flags = [...common, ...settings].flatMap((setting) => ['-c', setting]);
  await using starting = new AsyncDisposableStack();
  const server = starting.adopt(
    startSupervised({
      command: path.join(place.programs, 'bin', 'postgres'),
      args: ['-D', place.data, '-p', String(port), ...flags],
      logFile,
      identity: place.identity,
    }),
    (running) => running.stop(),
  );
  if (!(await untilReady(server, () => isReady(statusFile)))) {
    // Its log is complete when it has ended.
    await server.stop();
    throw new LocalError(
      `PostgreSQL did not start: ${lastWords(logFile)} If its data are unusable, start again with: npm start -- --fresh`,
    );
  }
  const running = starting.move();
  return {
    url: `postgres://${user}:${password}@127.0.0.1:${port}/postgres`,
    ended: server.ended,
    stop: () => running.disposeAsync(),
  };
}

async function makeData({ place, password, logFile }: PostgresOptions): Promise<void> {
  rmSync(place.data, { recursive: true, force: true });
  const passwordFile = path.join(tmpdir(), `tallystick-${randomUUID()}`);
  writeFileSync(passwordFile, `${password}\n`, { mode: 0o600, flag: 'wx' });
  if (place.identity) chownSync(passwordFile, place.identity.uid, place.identity.gid);
  const status = await runInitdb(place, passwordFile, logFile).finally(() =>
    rmSync(passwordFile, { force: true }),
  );
  if (status !== 0) throw new LocalError(`PostgreSQL could not make its data: ${lastWords(logFile)}`);
}

/** @returns the exit status */
async function runInitdb(place: PostgresPlace, passwordFile: string, logFile: string): Promise<number> {
  const initdb = startSupervised({
    command: path.join(place.programs, 'bin', 'initdb'),
    args: ['-D', place.data, '-U', user, `--pwfile=${passwordFile}`, ...initdbFlags],
    logFile,
    identity: place.identity,
  });
  return initdb.ended;
}

// No write is flushed to the disk: after an interrupted start the next one creates new data.
const initdbFlags = [
  '--auth=scram-sha-256',
  '--locale=C',
  '--encoding=UTF8',
  '--no-sync',
  '--no-instructions',
];

// pg_ctl too waits for the eighth line of the status file.
function isReady(statusFile: string): boolean {
  try {
    return readFileSync(statusFile, 'utf8').split('\n')[7]?.trim() === 'ready';
  } catch {
    return false;
  }
}

/** The last line of a log that says why a program ended. */
function lastWords(logFile: string): string {
  const lines = readFileSync(logFile, 'utf8').trimEnd().split('\n');
  const fatal = lines.findLast((line) => /FATAL|PANIC|error|could not|cannot/i.test(line)) ?? lines.at(-1);
  return fatal || 'it said nothing';
}
