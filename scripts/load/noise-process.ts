import { randomBytes } from 'node:crypto';
import { Agent, request as send } from 'node:http';
import { connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { generateKey } from '../../src/keys/key-format.ts';

/* Callers that behave badly, in a process of their own. It ends when it is disconnected. */

/** Connections that do not behave as an HTTP client should. */
export type RawTask = {
  /** What each connection sends as soon as it is there. */
  readonly text: string;
  readonly connections: number;
  /** Whether answers are read; without it the connection fills up. */
  readonly reads: boolean;
  /** They leave after so many milliseconds, and others come; without it they stay. */
  readonly stayMs?: number;
};

/** Callers each of whom asks again as soon as it is answered. */
export type GreedyTask = {
  /** In it and in the body, `{wallet}` becomes another address and `{moment}` another time of the last minutes, for each request. */
  readonly path: string;
  /** The body of a POST, as JSON; without it the process sends GET. */
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Without one nobody says who he is; `invented` is a new one for each request. */
  readonly key: string | 'invented' | undefined;
  readonly callers: number;
  /** Requests a second of all callers together, at most; as fast as they are answered without it. */
  readonly perSecond?: number;
};

export type NoiseTask = (RawTask | GreedyTask) & {
  /** Callers take turns with them. */
  readonly ports: readonly number[];
};

export type NoiseFigures = {
  readonly seconds: number;
  /** Raw connections that came about. */
  readonly connected: number;
  /** The connections that the service has not closed, as far as a reader knows. */
  readonly open: number;
  readonly asked: number;
  /** Answers by their status; `lost` without one. */
  readonly by: Readonly<Record<string, number>>;
};

/** The address of callers who behave badly, apart from the address of all others. */
const localAddress = '127.0.0.66';
const host = '127.0.0.1';
// A caller who is not answered at all must not ask without end.
const afterFailureMs = 100;

const begun = performance.now();
const counts = { connected: 0, asked: 0, by: {} as Record<string, number> };
const sockets = new Set<Socket>();

function openAll({ ports, connections, text, reads }: NoiseTask & RawTask): void {
  for (let index = 0; index < connections; index += 1) {
    const socket = connect({ port: ports[index % ports.length] ?? 0, host, localAddress });
    sockets.add(socket);
    socket.on('error', () => socket.destroy()).once('close', () => sockets.delete(socket));
    if (reads) socket.resume();
    else socket.pause();
    socket.once('connect', () => {
      counts.connected += 1;
      socket.write(text);
    });
  }
}

async function comeAndLeave(task: NoiseTask & RawTask): Promise<void> {
  for (;;) {
    openAll(task);
    if (task.stayMs === undefined) return;
    await pause(task.stayMs);
    for (const socket of sockets) socket.destroy();
  }
}

const agent = new Agent({ keepAlive: true, localAddress });

const minutesMs = 300_000;

const filled = (text: string) =>
  text
    .replaceAll('{wallet}', () => `0x${randomBytes(20).toString('hex')}`)
    .replaceAll('{moment}', () => new Date(Date.now() - Math.random() * minutesMs).toISOString());

/** @returns its status */
function ask(port: number, { key, headers: more, ...task }: GreedyTask): Promise<number> {
  const [path, body] = [filled(task.path), task.body === undefined ? undefined : filled(task.body)];
  const headers = {
    ...more,
    ...(key !== undefined && { 'x-api-key': key === 'invented' ? generateKey('live') : key }),
    ...(body !== undefined && { 'content-type': 'application/json', 'content-length': body.length }),
  };
  return new Promise((resolve, reject) => {
    const method = body === undefined ? 'GET' : 'POST';
    const request = send({ agent, port, host, method, path, headers }).once('error', reject);
    request.once('response', (response) => {
      response.once('end', () => resolve(response.statusCode ?? 0)).once('error', reject);
      response.resume();
    });
    request.end(body);
  });
}

async function beGreedy(task: NoiseTask & GreedyTask, caller: number): Promise<never> {
  const { ports, callers, perSecond } = task;
  const restMs = perSecond === undefined ? 0 : (callers / perSecond) * 1_000;
  for (let turn = caller; ; turn += 1) {
    const at = performance.now();
    counts.asked += 1;
    const outcome = await ask(ports[turn % ports.length] ?? 0, task).catch(() => 'lost' as const);
    counts.by[outcome] = (counts.by[outcome] ?? 0) + 1;
    const left = outcome === 'lost' ? afterFailureMs : restMs - (performance.now() - at);
    if (left > 0) await pause(left);
  }
}

process.once('message', (task: NoiseTask) => {
  if ('text' in task) void comeAndLeave(task);
  else for (let caller = 0; caller < task.callers; caller += 1) void beGreedy(task, caller);
  process.on('message', () => {
    const seconds = (performance.now() - begun) / 1_000;
    process.send?.({ ...counts, open: sockets.size, seconds } satisfies NoiseFigures);
  });
});
process.on('disconnect', () => process.exit(0));
