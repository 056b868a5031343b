import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import packageFile from '../../package.json' with { type: 'json' };
import { firstFreePort } from '../../src/local/programs/ports.ts';
import { killAtExit } from '../../test/support/kill-at-exit.ts';
import { pinned } from './http/cores.ts';

/** The key that signs cursors and encrypts secrets of a service under measurement. */
export const benchKey = Buffer.alloc(32, 1);

/** A server under measurement. */
export type Subject = {
  readonly pid: number;
  readonly port: number;
  /** From its start until it was ready. */
  readonly readyMs: number;
  stop(): Promise<void>;
};

type Environment = Readonly<Record<string, string>>;

/**
 * The command of `npm run serve`, without `exec` and the name of Node. So the bench measures the process that operators
 * run.
 */
export const [, , ...served] = packageFile.scripts.serve.split(' ');
const peer = ['--max-semi-space-size=16', path.join(import.meta.dirname, 'http/peer/server.ts')];
const startMs = 60_000;

/** Of both, so that their answers are the same. */
const claimPage = 'https://claim.example';

// Neither request logs nor limits, which the peer does not have either.
const withoutLimits = {
  LOG_LEVEL: 'warn',
  RATE_LIMIT_PER_SECOND: '0',
};

/** The settings of traces that the measurement was started with, to learn what traces cost. */
const traces = Object.fromEntries(
  Object.entries(process.env).flatMap(([name, value]) =>
    name.startsWith('OTEL_') && value !== undefined ? [[name, value]] : [],
  ),
);

/** Starts the service in the role api, on the core of the server. */
export const startService = (env: Environment): Promise<Subject> =>
  start(served, { ROLES: 'api', ...withoutLimits, ...traces, ...env }, 'server');

/** Starts what a team writes by hand that does not choose the service. */
export const startPeer = (env: Environment): Promise<Subject> => start(peer, env, 'server');

/** Starts the service as it is operated, with no core of its own. @param onLog gets what it writes */
export const startUnpinned = (env: Environment, onLog?: (text: string) => void): Promise<Subject> =>
  start(served, env, undefined, onLog);

async function start(
  words: readonly string[],
  env: Environment,
  core: 'server' | undefined,
  onLog: (text: string) => void = () => {},
): Promise<Subject> {
  const key = `bench:${benchKey.toString('base64')}`;
  const [port, operationsPort] = [await firstFreePort(28_000), await firstFreePort(29_000)];
  // Node's flags are handed on, so that --cpu-prof profiles the service too.
  const command = [process.execPath, ...process.execArgv, ...words] as const;
  const [program, ...rest] = core ? pinned(core, command) : command;
  const hasCallers = (env['ROLES'] ?? 'api').includes('api');
  const begun = performance.now();
  const child: ChildProcess = spawn(program, rest, {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {
      PATH: process.env['PATH'] ?? '',
      HOST: '127.0.0.1',
      PORT: String(port),
      DRAIN_SECONDS: '0',
      ...(!hasCallers && { OPERATIONS_PORT: String(operationsPort) }),
      SECRET_KEYS: key,
      CURSOR_KEYS: key,
      CLAIM_BASE_URL: claimPage,
      ...env,
    },
  });
  killAtExit(child);
  child.stdout?.setEncoding('utf8').on('data', onLog);
  await untilReady(child, hasCallers ? port : operationsPort);
  return {
    pid: child.pid ?? 0,
    port,
    readyMs: performance.now() - begun,
    async stop() {
      const ended = once(child, 'exit');
      child.kill('SIGTERM');
      await ended;
    },
  };
}

async function untilReady(child: ChildProcess, port: number): Promise<void> {
  const deadline = performance.now() + startMs;
  for (;;) {
    const answer = await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => undefined);
    if (answer?.ok === true) return;
    if (child.exitCode !== null)
      throw new Error(`A server ended with ${child.exitCode} before it was ready.`);
    if (performance.now() > deadline) throw new Error('A server did not become ready.');
    await pause(10);
  }
}
