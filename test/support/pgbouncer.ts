import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { throughPort } from '../keys/tcp-gate.ts';
import { killAtExit } from './kill-at-exit.ts';
import { freePort } from './postgres.ts';

/** A PgBouncer in transaction mode in front of a server. */
export type Pgbouncer = {
  /** The URL with the pooler's host and port in place of the server's. */
  through(url: string): string;
  close(): Promise<void>;
};

const program = ['/usr/sbin/pgbouncer', '/usr/bin/pgbouncer', '/usr/local/bin/pgbouncer'].find(existsSync);

/** Whether PgBouncer is installed here. It is no npm package: `apt-get install pgbouncer`. */
export const hasPgbouncer = program !== undefined;

// Fewer than the service opens, so that its connections share them.
const serverConnections = 6;
const nobody = 65_534;

/**
 * @param serverUrl of any of the server's databases, with user and password
 * @param users names and passwords of others who may come
 */
export async function startPgbouncer(
  serverUrl: string,
  users: readonly (readonly [name: string, password: string])[] = [],
): Promise<Pgbouncer> {
  if (program === undefined) throw new Error('PgBouncer is not installed.');
  const { hostname, port: serverPort, username, password } = new URL(serverUrl);
  const directory = await mkdtemp(path.join(tmpdir(), 'tallystick-bouncer-'));
  const port = await freePort();
  const file = (name: string, lines: readonly string[]) =>
    writeFile(path.join(directory, name), `${lines.join('\n')}\n`, { mode: 0o644 });
  await file('users.txt', [
    `"${username}" "${decodeURIComponent(password)}"`,
    ...users.map(([name, secret]) => `"${name}" "${secret}"`),
  ]);
  await file('pgbouncer.ini', [
    '[databases]',
    `* = host=${hostname} port=${serverPort}`,
    '[pgbouncer]',
    'pool_mode = transaction',
    `listen_addr = 127.0.0.1`,
    `listen_port = ${port}`,
    'unix_socket_dir =',
    'auth_type = plain',
    `auth_file = ${directory}/users.txt`,
    `default_pool_size = ${serverConnections}`,
    'max_client_conn = 500',
  ]);
  await chmod(directory, 0o755);
  // It refuses to run as root.
  const user = process.getuid?.() === 0 ? { uid: nobody, gid: nobody } : {};
  const child = spawn(program, ['-q', path.join(directory, 'pgbouncer.ini')], { stdio: 'ignore', ...user });
  killAtExit(child);
  const ended = once(child, 'exit');
  await Promise.race([
    untilListening(port),
    ended.then(() => Promise.reject(new Error('PgBouncer has ended'))),
  ]);
  return {
    through: (url) => throughPort(url, port),
    async close() {
      // At once, whoever is connected.
      child.kill('SIGTERM');
      await ended;
      await rm(directory, { recursive: true, force: true });
    },
  };
}

async function untilListening(port: number): Promise<void> {
  const deadline = Date.now() + 10_000;
  for (;;) {
    const socket = connect(port, '127.0.0.1');
    const isOpen = await once(socket, 'connect').then(
      () => true,
      () => false,
    );
    socket.destroy();
    if (isOpen) return;
    if (Date.now() > deadline) throw new Error('PgBouncer does not listen');
  }
}
