import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { firstFreePort } from '../../../src/local/programs/ports.ts';
import { killAtExit } from '../../../test/support/kill-at-exit.ts';
import { benchKey, served } from '../start-service.ts';
import { pinned } from './cores.ts';

/** A server under measurement. */
export type Subject = {
  readonly pid: number;
  readonly port: number;
  /** From its start until it was ready. */
  readonly readyMs: number;
  stop(): Promise<void>;
};

const peer = ['--max-semi-space-size=16', path.join(import.meta.dirname, 'peer/server.ts')];
const startMs = 60_000;

type Environment = Readonly<Record<string, string>>;

/** Of both, so that their answers are the same. */
const claimPage = 'https://claim.example';

// Neither request logs nor limits, which the peer does not have either.
const withoutLimits = {
  LOG_LEVEL: 'warn',
  RATE_LIMIT_PER_SECOND: '0',
  MAX_WAIT_MS: '5000',
  MAX_LOOP_DELAY_MS: '10000',
};

/** The settings of traces that the measurement was started with, to learn what traces cost. */
const traces = Object.fromEntries(
  Object.entries(process.env).flatMap(([name, value]) =>
    name.startsWith('OTEL_') && value !== undefined ? [[name, value]] : [],
  ),
);

/** The service in the role api. */
export const startService = (env: Environment): Promise<Subject> =>
  start(served, { ROLES: 'api', DRAIN_SECONDS: '0', ...withoutLimits, ...traces, ...env });

/** What a team writes by hand that does not choose the service. */
export const startPeer = (env: Environment): Promise<Subject> => start(peer, env);

async function start(words: readonly string[], env: Environment): Promise<Subject> {
  const key = `bench:${benchKey.toString('base64')}`;
  const port = await firstFreePort(28_000);
  const [program, ...rest] = pinned('server', [process.execPath, ...process.execArgv, ...words]);
  const begun = performance.now();
  const child: ChildProcess = spawn(program, rest, {
    stdio: ['ignore', 'inherit', 'inherit'],
    env: {
      ...{ PATH: process.env['PATH'] ?? '', HOST: '127.0.0.1', PORT: String(port) },
      ...{ SECRET_KEYS: key, CURSOR_KEYS: key, CLAIM_BASE_URL: claimPage },
      ...env,
    },
  });
  killAtExit(child);
  await untilReady(child, port);
  return {
    ...{ pid: child.pid ?? 0, port, readyMs: performance.now() - begun },
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
