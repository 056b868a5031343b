import { encoded, type HttpConnection, openConnection, type Request } from './connection.ts';
import type { LoadFigures, LoadTask } from './load-task.ts';
import { keepPace } from './pace.ts';

/* Makes load, in a process of its own: it must not share a core with what it measures. */

const patienceMs = 30_000;
// As long as the numbers that take its place, so that the length of a body is known before.
const place = '0'.repeat(16);
let numbered = Date.now() * 1_000;

/** Requests in turns, each with a number of its own. */
function createTurns(requests: readonly Request[]): () => string {
  const texts = requests.map(({ body, ...rest }) =>
    encoded({ ...rest, ...(body !== undefined && { body: body.replace('{n}', place) }) }).split(place),
  );
  let next = 0;
  return () => {
    const parts = texts[next++ % texts.length];
    if (parts === undefined) throw new Error('There is nothing to ask for.');
    numbered += 1;
    return parts.length === 1 ? (parts[0] ?? '') : parts.join(String(numbered));
  };
}

async function run(task: LoadTask): Promise<LoadFigures> {
  const { port, requests, seconds, perSecond } = task;
  const connections = await Promise.all(Array.from({ length: task.connections }, () => openConnection(port)));
  const turn = createTurns(requests);
  const times: number[] = [];
  let bytes = 0;
  const ask = async (connection: HttpConnection, due: number) => {
    const request = turn();
    const { status, body } = await connection.send(request);
    if (status !== task.status) {
      const [line] = request.split('\r\n');
      throw new Error(`${line} was answered ${status}: ${body.slice(0, 300)}`);
    }
    bytes += body.length;
    times.push(performance.now() - due);
  };
  const begun = performance.now();
  if (perSecond === undefined) await saturate(connections, ask, begun + seconds * 1_000);
  else {
    const { unanswered } = await keepPace(connections, ask, { perSecond, seconds, patienceMs });
    if (unanswered > 0) throw new Error(`${unanswered} requests were not answered.`);
  }
  const took = (performance.now() - begun) / 1_000;
  for (const connection of connections) connection.close();
  return figuresOf(times, took, bytes);
}

type Ask = (connection: HttpConnection, due: number) => Promise<void>;

async function saturate(connections: readonly HttpConnection[], ask: Ask, end: number): Promise<void> {
  await Promise.all(
    connections.map(async (connection) => {
      while (performance.now() < end) await ask(connection, performance.now());
    }),
  );
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
