import { setTimeout as pause } from 'node:timers/promises';
import { type HttpConnection, openConnection, type Request } from './connection.ts';
import type { LoadFigures, LoadTask } from './load-task.ts';

/* Makes load, in a process of its own: it must not share a core with what it measures. */

let numbered = Date.now() * 1_000;

/** Requests in turns, each with a number of its own. */
function createTurns(requests: readonly Request[]): () => Request {
  let next = 0;
  return () => {
    const request = requests[next++ % requests.length];
    if (request === undefined) throw new Error('There is nothing to ask for.');
    if (request.body?.includes('{n}') !== true) return request;
    numbered += 1;
    return { ...request, body: request.body.replace('{n}', String(numbered)) };
  };
}

async function run(task: LoadTask): Promise<LoadFigures> {
  const connections = await Promise.all(
    Array.from({ length: task.connections }, () => openConnection(task.port)),
  );
  const turn = createTurns(task.requests);
  const times: number[] = [];
  let bytes = 0;
  const ask = async (connection: HttpConnection, due: number) => {
    const request = turn();
    const { status, body } = await connection.send(request);
    if (status !== task.status) {
      throw new Error(`${request.method} ${request.path} was answered ${status}: ${body.slice(0, 300)}`);
    }
    bytes += body.length;
    times.push(performance.now() - due);
  };
  const begun = performance.now();
  const end = begun + task.seconds * 1_000;
  await Promise.all(
    task.perSecond === undefined
      ? connections.map((connection) => saturate(connection, ask, end))
      : connections.map((connection, index) => {
          const everyMs = (1_000 * task.connections) / (task.perSecond ?? 1);
          return keepPace(connection, ask, {
            from: begun + (everyMs * index) / task.connections,
            everyMs,
            end,
          });
        }),
  );
  const seconds = (performance.now() - begun) / 1_000;
  for (const connection of connections) connection.close();
  return figuresOf(times, seconds, bytes);
}

type Ask = (connection: HttpConnection, due: number) => Promise<void>;

async function saturate(connection: HttpConnection, ask: Ask, end: number): Promise<void> {
  while (performance.now() < end) await ask(connection, performance.now());
}

/** What is due while an answer is awaited is sent right after it, and its time counts from when it was due. */
async function keepPace(
  connection: HttpConnection,
  ask: Ask,
  { from, everyMs, end }: { readonly from: number; readonly everyMs: number; readonly end: number },
): Promise<void> {
  for (let due = from; due < end; due += everyMs) {
    const early = due - performance.now();
    if (early > 0) await pause(early);
    await ask(connection, due);
  }
}

function figuresOf(times: number[], seconds: number, bytes: number): LoadFigures {
  const sorted = Float64Array.from(times).sort();
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
  return {
    answered: sorted.length,
    perSecond: sorted.length / seconds,
    ...{ p50Ms: at(0.5), p95Ms: at(0.95), p99Ms: at(0.99), maxMs: at(1) },
    bytes,
  };
}

process.on('message', (task: LoadTask) => {
  run(task).then(
    (figures) => process.send?.({ figures }),
    (error: Error) => process.send?.({ error: error.message }),
  );
});
process.on('disconnect', () => process.exit(0));
