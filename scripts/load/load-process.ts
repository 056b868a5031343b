import { encoded, type HttpConnection, openConnection, type Request } from '../bench/http/connection.ts';
import { keepPace, type PaceOutcome } from '../bench/http/pace.ts';
import { quantile } from './answers.ts';

/* Makes a load that does not wait for answers, in a process of its own. */

/** What the process that makes a load is sent; it answers each with a {@link LoadFigures}. */
export type LoadTask = {
  readonly port: number;
  readonly key: string;
  /** Asked in turns: by POST with a body, which is JSON, and by GET without one. */
  readonly requests: readonly { readonly path: string; readonly body?: string }[];
  readonly seconds: number;
  /** Connections; each has one request under way at most. */
  readonly connections: number;
  /** Requests a second, due whether earlier ones are answered or not; as fast as answers come without it. */
  readonly perSecond?: number;
};

/** Times are from when a request was due until its whole answer is there. */
export type LoadFigures = {
  /** Requests a second that were served. */
  readonly servedPerSecond: number;
  /** Answered 503. */
  readonly refused: number;
  /** Answered with anything else, or not at all. */
  readonly wrong: number;
  /** The same by status; `lost` with their connection, `open` at the end. */
  readonly wrongBy: Readonly<Record<string, number>>;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Requests that waited for a connection at once, at most. */
  readonly mostWaiting: number;
};

const patienceMs = 15_000;

async function run(task: LoadTask): Promise<LoadFigures> {
  const { port, key, seconds, perSecond } = task;
  const connections = await Promise.all(Array.from({ length: task.connections }, () => openConnection(port)));
  const headers = { 'x-api-key': key };
  const requests = task.requests.map(
    ({ path, body }): Request =>
      body === undefined ? { method: 'GET', path, headers } : { method: 'POST', path, headers, body },
  );
  const load = createLoad(requests.map(encoded), seconds);
  const outcome =
    perSecond === undefined
      ? await load.saturate(connections)
      : await keepPace(connections, load.ask, { perSecond, seconds, patienceMs });
  for (const connection of connections) connection.close();
  return load.figures(outcome);
}

/** @param seconds what is served after them is not counted in its pace */
function createLoad(requests: readonly string[], seconds: number) {
  const end = performance.now() + seconds * 1_000;
  const times: number[] = [];
  const wrongBy: Record<string, number> = {};
  const counts = { sent: 0, servedInTime: 0, refused: 0, wrong: 0 };

  const noteWrong = (what: string, count: number) => {
    counts.wrong += count;
    if (count > 0) wrongBy[what] = (wrongBy[what] ?? 0) + count;
  };
  const ask = async (connection: HttpConnection, due: number): Promise<void> => {
    const request = requests[counts.sent++ % requests.length];
    if (request === undefined) throw new Error('There is nothing to ask for.');
    const status = await statusOf(connection, request);
    const now = performance.now();
    if (status === 200 || status === 201) {
      times.push(now - due);
      if (now <= end) counts.servedInTime += 1;
    } else if (status === 503) counts.refused += 1;
    else noteWrong(status === 0 ? 'lost' : String(status), 1);
  };

  return {
    ask,
    async saturate(connections: readonly HttpConnection[]): Promise<PaceOutcome> {
      await Promise.all(
        connections.map(async (connection) => {
          while (performance.now() < end) await ask(connection, performance.now());
        }),
      );
      return { mostWaiting: 0, unanswered: 0 };
    },
    figures({ mostWaiting, unanswered }: PaceOutcome): LoadFigures {
      noteWrong('open', unanswered);
      return {
        servedPerSecond: Math.round(counts.servedInTime / seconds),
        refused: counts.refused,
        wrong: counts.wrong,
        wrongBy,
        p50Ms: Math.round(quantile(times, 0.5)),
        p99Ms: Math.round(quantile(times, 0.99)),
        mostWaiting,
      };
    },
  };
}

/** @returns 0 when the connection was lost */
async function statusOf(connection: HttpConnection, request: string): Promise<number> {
  try {
    return (await connection.send(request)).status;
  } catch {
    return 0;
  }
}

process.on('message', (task: LoadTask) => {
  void run(task).then((figures) => process.send?.(figures));
});
process.on('disconnect', () => process.exit(0));
