import { encoded, type HttpConnection, openConnection, type Request } from './connection.ts';

/* Makes load, in a process of its own: it must not share a core with what it measures. */

/** What a process that makes load is asked for: requests as fast as answers come. */
export type LoadTask = {
  readonly port: number;
  readonly seconds: number;
  /** Taken in turns. `{n}` in a body is another number in each request. */
  readonly requests: readonly Request[];
  readonly status: number;
};

export type LoadFigures = { readonly answered: number; readonly perSecond: number; readonly p99Ms: number };

const connectionCount = 16;
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

async function run({ port, requests, seconds, status: wanted }: LoadTask): Promise<LoadFigures> {
  const opening = Array.from({ length: connectionCount }, () => openConnection(port));
  const connections = await Promise.all(opening);
  const turn = createTurns(requests);
  const times: number[] = [];
  const begun = performance.now();
  const end = begun + seconds * 1_000;
  const saturate = async (connection: HttpConnection) => {
    for (let due = performance.now(); due < end; due = performance.now()) {
      const request = turn();
      const { status, body } = await connection.send(request);
      if (status !== wanted) {
        const [line] = request.split('\r\n');
        throw new Error(`${line} was answered ${status}: ${body.slice(0, 300)}`);
      }
      times.push(performance.now() - due);
    }
  };
  await Promise.all(connections.map(saturate));
  const took = (performance.now() - begun) / 1_000;
  for (const connection of connections) connection.close();
  const sorted = Float64Array.from(times).sort();
  const p99Ms = sorted[Math.floor(sorted.length * 0.99)] ?? 0;
  return { answered: sorted.length, perSecond: sorted.length / took, p99Ms };
}

process.on('message', (task: LoadTask) => {
  run(task).then(
    (figures) => process.send?.({ figures }),
    (error: Error) => process.send?.({ error: error.message }),
  );
});
process.on('disconnect', () => process.exit(0));
