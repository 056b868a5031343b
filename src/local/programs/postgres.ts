import { randomUUID } from 'node:crypto';
import { chownSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { LocalError } from './local-error.ts';
import type { PostgresPlace } from './postgres-place.ts';
import { startGuarded } from './supervisor.ts';

const user = 'tallystick';

export type PostgresOptions = {
  readonly place: PostgresPlace;
  readonly port: number;
  readonly password: string;
  /** `name=value` for the server, beside those that every local server has. */
  readonly settings: readonly string[];
  readonly logFile: string;
};

export type PostgresServer = {
  /** Names the database that a new server has. */
  readonly url: string;
  readonly ended: Promise<number>;
  stop(): Promise<void>;
};

/** Whether there are data to start from. */
export function hasData({ data }: PostgresPlace): boolean {
  return existsSync(path.join(data, 'PG_VERSION'));
}

/**
 * Starts a PostgreSQL of the packages on the loopback address, with new data if there are none. It ends with
 * this process, however that ends.
 * @throws LocalError when it does not start
 */
export async function startPostgresServer(options: PostgresOptions): Promise<PostgresServer> {
  if (!hasData(options.place)) await makeData(options);
  const { place, port, password, settings, logFile } = options;
  const statusFile = path.join(place.data, 'postmaster.pid');
  // No server runs on these data, or it was ended by now. Its number may be another program's already.
  rmSync(statusFile, { force: true });
  const common = [
    'listen_addresses=127.0.0.1',
    'unix_socket_directories=',
    'timezone=UTC',
    'log_timezone=UTC',
  ];
  const flags = [...common, ...settings].flatMap((setting) => ['-c', setting]);
  const server = startGuarded({
    command: path.join(place.programs, 'bin', 'postgres'),
    args: ['-D', place.data, '-p', String(port), ...flags],
    logFile,
    identity: place.identity,
  });
  if (!(await untilReady(statusFile, server.ended))) {
    await server.stop();
    throw new LocalError(
      `PostgreSQL did not start: ${lastWords(logFile)} If its data are unusable, begin anew with: npm start -- --fresh`,
    );
  }
  return { url: `postgres://${user}:${password}@127.0.0.1:${port}/postgres`, ...server };
}

async function makeData({ place, password, logFile }: PostgresOptions): Promise<void> {
  rmSync(place.data, { recursive: true, force: true });
  const passwordFile = path.join(tmpdir(), `tallystick-${randomUUID()}`);
  writeFileSync(passwordFile, `${password}\n`, { mode: 0o600, flag: 'wx' });
  if (place.identity) chownSync(passwordFile, place.identity.uid, place.identity.gid);
  const initdb = startGuarded({
    command: path.join(place.programs, 'bin', 'initdb'),
    args: ['-D', place.data, '-U', user, `--pwfile=${passwordFile}`, ...initdbFlags],
    logFile,
    identity: place.identity,
  });
  const status = await initdb.ended;
  rmSync(passwordFile, { force: true });
  if (status !== 0) throw new LocalError(`PostgreSQL could not make its data: ${lastWords(logFile)}`);
}

// Nothing waits for the disk: an interrupted start begins again with new data.
const initdbFlags = [
  '--auth=scram-sha-256',
  '--locale=C',
  '--encoding=UTF8',
  '--no-sync',
  '--no-instructions',
];

// The eighth line of its status file is what pg_ctl waits for too.
function isReady(statusFile: string): boolean {
  try {
    return readFileSync(statusFile, 'utf8').split('\n')[7]?.trim() === 'ready';
  } catch {
    return false;
  }
}

/** Whether it came up; false when it ended, or takes longer than any recovery after a kill should. */
async function untilReady(statusFile: string, ended: Promise<number>): Promise<boolean> {
  const deadline = Date.now() + 60_000;
  let running = true;
  void ended.then(() => {
    running = false;
  });
  while (running && Date.now() < deadline) {
    if (isReady(statusFile)) return true;
    await pause(10);
  }
  return false;
}

/** What a program said last that tells why it ended, for people. */
function lastWords(logFile: string): string {
  const lines = readFileSync(logFile, 'utf8').trimEnd().split('\n');
  const fatal = lines.findLast((line) => /FATAL|PANIC|error|could not|cannot/i.test(line)) ?? lines.at(-1);
  return fatal || 'it said nothing';
}
