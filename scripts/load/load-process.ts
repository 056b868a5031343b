import { type HttpConnection, openConnection, type Request } from '../bench/http/connection.ts';
import { quantile } from './answers.ts';

/* Makes a load that does not wait for answers, in a process of its own. */

/** What the process that makes a load is sent; it answers each with a {@link LoadFigures}. */
export type LoadTask = {
  readonly port: number;
  readonly key: string;
  readonly paths: readonly string[];
  /** JSON that is sent to them by POST; they are read without it. */
  readonly body?: string;
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

const deadlineMs = 15_000;

async function run(task: LoadTask): Promise<LoadFigures> {
  const { port, paths, key, body, seconds, perSecond } = task;
  const connections = await Promise.all(Array.from({ length: task.connections }, () => openConnection(port)));
  const headers = { 'x-api-key': key };
  const requests = paths.map(
    (path): Request =>
      body === undefined ? { method: 'GET', path, headers } : { method: 'POST', path, headers, body },
  );
  const load = createLoad(connections, requests);
  const begun = performance.now();
  const end = begun + seconds * 1_000;
  if (perSecond === undefined) await load.saturate(end);
  else await load.keepPace(perSecond, begun, end);
  const took = (performance.now() - begun) / 1_000;
  await load.settle(deadlineMs);
  for (const connection of connections) connection.close();
  return load.figures(took);
}

function createLoad(connections: readonly HttpConnection[], requests: readonly Request[]) {
  const free = [...connections];
  const waiting: number[] = [];
  const times: number[] = [];
  const wrongBy: Record<string, number> = {};
  const counts = { sent: 0, refused: 0, wrong: 0, mostWaiting: 0, underWay: 0 };

  const noteWrong = (what: string, count: number) => {
    counts.wrong += count;
    if (count > 0) wrongBy[what] = (wrongBy[what] ?? 0) + count;
  };
  const ask = async (connection: HttpConnection, due: number): Promise<void> => {
    const request = requests[counts.sent++ % requests.length];
    if (request === undefined) throw new Error('There is nothing to ask for.');
    counts.underWay += 1;
    const status = await connection.send(request).then(
      (answer) => answer.status,
      () => 0,
    );
    counts.underWay -= 1;
    if (status === 200 || status === 201) times.push(performance.now() - due);
    else if (status === 503) counts.refused += 1;
    else noteWrong(status === 0 ? 'lost' : String(status), 1);
  };
  const askAndGoOn = async (connection: HttpConnection, due: number): Promise<void> => {
    await ask(connection, due);
    const next = waiting.shift();
    if (next === undefined) free.push(connection);
    else await askAndGoOn(connection, next);
  };

  return {
    async saturate(end: number) {
      await Promise.all(
        connections.map(async (connection) => {
          while (performance.now() < end) await ask(connection, performance.now());
        }),
      );
    },
    /** What finds no free connection is sent by the next one that becomes free. */
    async keepPace(perSecond: number, begun: number, end: number) {
      const everyMs = 1_000 / perSecond;
      for (let due = begun; due < end; ) {
        for (; due <= performance.now() && due < end; due += everyMs) {
          const connection = free.pop();
          if (connection === undefined) waiting.push(due);
          else void askAndGoOn(connection, due);
        }
        counts.mostWaiting = Math.max(counts.mostWaiting, waiting.length);
        await new Promise((resolve) => setTimeout(resolve, 1));
      }
    },
    /** What is not answered by then counts as wrong. */
    async settle(ms: number) {
      const until = performance.now() + ms;
      while (counts.underWay > 0 && performance.now() < until) {
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      noteWrong('open', counts.underWay + waiting.length);
    },
    figures: (seconds: number): LoadFigures => ({
      servedPerSecond: Math.round(times.length / seconds),
      refused: counts.refused,
      wrong: counts.wrong,
      wrongBy,
      p50Ms: Math.round(quantile(times, 0.5)),
      p99Ms: Math.round(quantile(times, 0.99)),
      mostWaiting: counts.mostWaiting,
    }),
  };
}

process.on('message', (task: LoadTask) => {
  void run(task).then((figures) => process.send?.(figures));
});
process.on('disconnect', () => process.exit(0));
