import { type Answer, type Counts, countClasses, quantile } from './answers.ts';
import { type Caller, createCaller, type Wanted } from './caller.ts';
import { startLoad } from './steady-load.ts';

/** What the process that makes a load is sent; it answers each with a {@link LoadFigures}. */
export type LoadTask = {
  readonly port: number;
  readonly key: string;
  readonly paths: readonly string[];
  readonly seconds: number;
  /** So many callers who wait for their answers, or requests a second whether they are answered or not. */
  readonly callers?: number;
  readonly perSecond?: number;
};

export type LoadFigures = {
  readonly counts: Counts;
  /** Requests a second that were served. */
  readonly servedPerSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Requests under way at once, at most. */
  readonly mostInFlight: number;
};

const deadlineMs = 15_000;

async function run(task: LoadTask): Promise<LoadFigures> {
  const { port, key } = task;
  const caller = createCaller({ port, key, company: 'bench', address: '127.0.0.1', deadlineMs });
  const begun = performance.now();
  const { answers, mostInFlight } = await (task.callers === undefined
    ? steady(task, caller)
    : waiting(task, caller));
  caller.close();
  const seconds = (performance.now() - begun) / 1_000;
  const served = answers.filter((answer) => answer.class === 'ok');
  const times = served.map(({ ms }) => ms);
  return {
    counts: countClasses(answers),
    servedPerSecond: Math.round(served.length / seconds),
    p50Ms: Math.round(quantile(times, 0.5)),
    p99Ms: Math.round(quantile(times, 0.99)),
    mostInFlight,
  };
}

async function waiting(task: LoadTask, caller: Caller) {
  const until = performance.now() + task.seconds * 1_000;
  const answers: Answer[] = [];
  const mostInFlight = task.callers ?? 1;
  await Promise.all(
    Array.from({ length: mostInFlight }, async () => {
      while (performance.now() < until) answers.push(await caller.ask(requestOf(task, answers.length)));
    }),
  );
  return { answers, mostInFlight };
}

async function steady(task: LoadTask, caller: Caller) {
  let [sent, answered, mostInFlight] = [0, 0, 0];
  const next = () => {
    sent += 1;
    mostInFlight = Math.max(mostInFlight, sent - answered);
    return requestOf(task, sent);
  };
  const onAnswer = () => {
    answered += 1;
  };
  const load = startLoad({ callers: [caller], next, perSecond: task.perSecond ?? 1, onAnswer });
  await new Promise((resolve) => setTimeout(resolve, task.seconds * 1_000));
  await load.stop();
  return { answers: [...load.answers], mostInFlight };
}

const requestOf = ({ paths }: LoadTask, index: number): Wanted => ({
  kind: 'read',
  method: 'GET',
  path: paths[index % paths.length] ?? '/',
});

process.on('message', (task: LoadTask) => {
  run(task).then((figures) => process.send?.(figures));
});
