import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { killAtExit } from '../../test/support/kill-at-exit.ts';
import { served } from '../bench/start-service.ts';

export type Replica = {
  readonly name: string;
  readonly pid: number;
  /** Of callers; 0 without the role api. */
  readonly port: number;
  readonly operationsPort: number;
  /** The exit status or the signal, once it has ended. */
  ended(): string | undefined;
  /** Lines of its log about rejections or exceptions that nobody handled. */
  unhandled(): string[];
  /** Stops it as an operator would. */
  stop(): Promise<void>;
  kill(signal: NodeJS.Signals): Promise<void>;
};

export type ReplicaOptions = {
  readonly name: string;
  readonly folder: string;
  readonly settings: Readonly<Record<string, string>>;
  /** Options of Node, before the options of `npm run serve`. */
  readonly nodeOptions?: readonly string[];
  /** A program with its arguments that starts Node, such as `prlimit`. */
  readonly starter?: readonly string[];
  /** The folder with the files of another release; of this one by default. */
  readonly release?: string;
};

const root = path.join(import.meta.dirname, '../..');
const endWithParent = path.join(import.meta.dirname, 'end-with-parent.ts');
// On a machine with much else to do.
const startMs = 120_000;

/** Starts a process of the service and waits until it is there. @throws Error with its log */
export async function startReplica({
  name,
  folder,
  settings,
  nodeOptions = [],
  starter = [],
  release = root,
}: ReplicaOptions): Promise<Replica> {
  const logFile = path.join(folder, `${name}-${Date.now()}.log`);
  const log = openSync(logFile, 'a');
  const options = ['--import', endWithParent, ...nodeOptions];
  const [program = '', ...words] = [...starter, process.execPath, ...options, ...served];
  const child = spawn(program, words, {
    env: { PATH: process.env['PATH'], HOST: '127.0.0.1', PORT: '0', OPERATIONS_PORT: '0', ...settings },
    cwd: release,
    // As whatever starts services does: where the cores are shared among sessions, all replicas would have one share.
    detached: true,
    stdio: ['pipe', log, log],
  });
  closeSync(log);
  killAtExit(child);
  const exit = once(child, 'exit');
  const { port, operationsPort } = await untilStarted(child, logFile);
  return {
    name,
    port,
    operationsPort,
    pid: child.pid ?? 0,
    ended: () => endOf(child),
    unhandled: () =>
      readFileSync(logFile, 'utf8')
        .split('\n')
        .filter((line) => /unhandled|uncaught|MaxListenersExceeded|^FATAL ERROR/i.test(line)),
    async stop() {
      child.kill('SIGTERM');
      await exit;
    },
    async kill(signal) {
      child.kill(signal);
      if (signal === 'SIGKILL') await exit;
    },
  };
}

const endOf = ({ exitCode, signalCode }: ChildProcess) =>
  exitCode === null ? (signalCode ?? undefined) : `exit status ${exitCode}`;

async function untilStarted(child: ChildProcess, logFile: string) {
  const deadline = performance.now() + startMs;
  for (;;) {
    const log = readFileSync(logFile, 'utf8');
    const started = log.split('\n').find((line) => line.includes('"msg":"service started"'));
    if (started !== undefined) {
      const { port = 0, operationsPort = 0 }: { port?: number; operationsPort?: number } =
        JSON.parse(started);
      return { port, operationsPort };
    }
    if (endOf(child) !== undefined || performance.now() > deadline) {
      child.kill('SIGKILL');
      throw new Error(`The service did not start:\n${log.slice(-3_000)}`);
    }
    await pause(50);
  }
}
