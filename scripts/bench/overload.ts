import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { LoadFigures, LoadTask } from '../load/load-process.ts';
import type { KernelTime } from '../load/refusing-process.ts';
import { startReplica } from '../load/replica.ts';
import { createWorld, worldKey } from '../load/world.ts';
import { coreSeconds, keepToCore, pinned, starterOn } from './http/cores.ts';
import { areHeld, atLeast, atMost, below, type Limits } from './limits.ts';
import { startBenchPostgres } from './mint/bench-postgres.ts';
import { cheapest, overloadKinds } from './overload-requests.ts';
import { served } from './start-service.ts';
import { rounded, type Suite } from './suite.ts';

const refusingProgram = path.resolve(import.meta.dirname, '../load/refusing-process.ts');
const loadProgram = path.resolve(import.meta.dirname, '../load/load-process.ts');
const connectionSteps = [8, 16, 32, 64];
// As many as come when nobody waits for an answer before asking again.
const manyConnections = 2_000;
// Callers who each ask again as soon as they are answered, refused or not.
const askingOn = 1_000;
const times = 3;
const limits = { p99Ms: 1_000, goodput: 0.8 };

/** Asks the process that makes the load, so that who measures does not also serve. */
type Load = (task: Omit<LoadTask, 'port' | 'key'>) => Promise<LoadFigures>;
/** Microseconds that the kernel takes for a request and its refusal, in a process that does nothing else with so many a second. */
type TimeRefusals = (perSecond: number, seconds: number) => Promise<number>;

export const overloadSuite: Suite = {
  about:
    'Three times as many requests as one process can serve, against the most that it serves; about 5 minutes',
  async run({ isQuick, say }) {
    const folder = await mkdtemp(path.join(tmpdir(), 'tallystick-overload-'));
    await using opened = new AsyncDisposableStack();
    opened.defer(() => rm(folder, { recursive: true, force: true }));
    const { load, timeRefusals, coreTime, kinds } = await startService(folder, opened);
    const options = { timeRefusals, coreTime, seconds: isQuick ? 3 : 10, say };
    const found: (readonly [name: string, measured: Measured])[] = [];
    for (const { name, about, requests } of kinds) {
      say(about);
      found.push([name, await measure((task) => load({ ...task, requests }), options)]);
    }
    const held = Object.fromEntries(found.flatMap((each) => Object.entries(limitsOf(...each))));
    const beside = Object.fromEntries(found.flatMap((each) => Object.entries(besideOf(...each))));
    return { ok: areHeld(held), limits: held, beside, ...Object.fromEntries(found) };
  },
};

type Measured = {
  readonly best: LoadFigures;
  readonly over: LoadFigures;
  /** With callers who do not heed `Retry-After`. */
  readonly hasty: LoadFigures;
  /** How much of its core the process used meanwhile. */
  readonly busy: number;
  /** Of a core, for an answer, at the best. */
  readonly answerMicros: number;
  /** The kernel's part of a refusal. */
  readonly refusalMicros: number;
};

/**
 * The most of its best that a process can serve on one core under such a load if a refusal costs it nothing but what the
 * kernel takes for it: `served x answer + (offered - served) x refusal` is a second.
 */
function reachable({ best, answerMicros, refusalMicros }: Measured): number {
  const offered = best.servedPerSecond * times;
  const served = (1_000_000 - offered * refusalMicros) / (answerMicros - refusalMicros);
  return rounded(Math.min(1, served / best.servedPerSecond));
}

const limitsOf = (name: string, { best, over }: Measured): Limits => ({
  [`${name}AcceptedP99Ms`]: below(over.p99Ms, limits.p99Ms),
  [`${name}GoodputToBest`]: atLeast(rounded(over.servedPerSecond / best.servedPerSecond), limits.goodput),
  [`${name}NeitherServedNorRefused`]: atMost(over.wrong, 0),
});

const besideOf = (name: string, measured: Measured): Record<string, number> => ({
  [`${name}AskingOnGoodputToBest`]: rounded(measured.hasty.servedPerSecond / measured.best.servedPerSecond),
  [`${name}AskingOnP99Ms`]: measured.hasty.p99Ms,
  [`${name}GoodputReachable`]: reachable(measured),
  [`${name}Core`]: rounded(measured.busy),
  [`${name}Micros`]: rounded(measured.answerMicros),
  [`${name}RefusalKernelMicros`]: rounded(measured.refusalMicros),
});

type Steps = (task: Omit<LoadTask, 'port' | 'key' | 'requests'>) => Promise<LoadFigures>;

type MeasureOptions = {
  readonly timeRefusals: TimeRefusals;
  /** Seconds of a core that the service has used. */
  readonly coreTime: () => number;
  readonly seconds: number;
  readonly say: (line: string) => void;
};

async function measure(load: Steps, { timeRefusals, coreTime, seconds, say }: MeasureOptions) {
  await load({ seconds, connections: 16 });
  const steps: (LoadFigures & { readonly answerMicros: number })[] = [];
  for (const connections of connectionSteps) {
    const before = coreTime();
    const figures = await load({ seconds, connections });
    const answerMicros = ((coreTime() - before) / (figures.servedPerSecond * seconds)) * 1_000_000;
    say(`${connections} connections: ${figures.servedPerSecond} a second, p99 ${figures.p99Ms} ms`);
    steps.push({ ...figures, answerMicros });
  }
  const [best = noStep()] = steps.toSorted((a, b) => b.servedPerSecond - a.servedPerSecond);
  const offered = best.servedPerSecond * times;
  const [begun, before] = [performance.now(), coreTime()];
  const over = await load({ seconds: seconds * 2, connections: manyConnections, perSecond: offered });
  const busy = (coreTime() - before) / ((performance.now() - begun) / 1_000);
  say(
    `${offered} a second: ${over.servedPerSecond} served, p99 ${over.p99Ms} ms, ${over.refused} refused, otherwise ${JSON.stringify(over.wrongBy)}`,
  );
  const hasty = await load({ seconds, connections: askingOn });
  say(
    `${askingOn} who ask on: ${hasty.servedPerSecond} served, p99 ${hasty.p99Ms} ms, ${hasty.refused} refused`,
  );
  const refusalMicros = await timeRefusals(offered - best.servedPerSecond, seconds);
  say(
    `An answer takes ${rounded(best.answerMicros)} us of a core, a refusal ${rounded(refusalMicros)} of the kernel`,
  );
  return { best, steps, over, hasty, busy, answerMicros: best.answerMicros, refusalMicros };
}

const noStep = (): never => {
  throw new Error('Nothing was measured.');
};

async function startService(folder: string, opened: AsyncDisposableStack) {
  const postgres = opened.adopt(await startBenchPostgres(folder), (server) => server.close());
  // As in other suites: the process has a core, the load another, and the database what is left of both. On the core of the load
  // alone it would have less the more is refused, and what it could not do would count as what refusing costs.
  keepToCore('load');
  const { db, url } = await postgres.createDatabase();
  const { acme } = await createWorld(db, { rpcUrls: ['http://127.0.0.1:9'], contract: nobody, unclaimed: 2 });
  const key = `load:${worldKey.toString('base64')}`;
  const settings = {
    ...{ DATABASE_URL: url, ROLES: 'api', SECRET_KEYS: key, CURSOR_KEYS: key, DRAIN_SECONDS: '0' },
    // One key sends everything, from one address.
    ...{ RATE_LIMIT_PER_SECOND: '0', MAX_CONNECTIONS_PER_ADDRESS: '100000', MAX_CONNECTIONS: '100000' },
    LOG_LEVEL: 'info',
  };
  const replica = opened.adopt(
    await startReplica({ name: 'api', folder, settings, starter: starterOn('server') }),
    (running) => running.stop(),
  );
  const loading = opened.adopt(fork(loadProgram), (running: ChildProcess) => void running.disconnect());
  const ask = async (task: Omit<LoadTask, 'key'>) => {
    loading.send({ ...task, key: acme.key } satisfies LoadTask);
    return next<LoadFigures>(loading);
  };
  const load: Load = (task) => ask({ ...task, port: replica.port });
  const kinds = overloadKinds(acme);
  const timeRefusals: TimeRefusals = async (perSecond, seconds) => {
    const [program = '', ...words] = pinned('server', [process.execPath, ...served.slice(0, -1)]);
    const refusing = fork(refusingProgram, { execPath: program, execArgv: words });
    const port = await next<number>(refusing);
    const tell = async () => {
      refusing.send('tell');
      return next<KernelTime>(refusing);
    };
    const before = await tell();
    await ask({ requests: cheapest(acme), port, perSecond, seconds, connections: manyConnections });
    const after = await tell();
    refusing.disconnect();
    return (after.systemMicros - before.systemMicros) / (after.refusals - before.refusals);
  };
  return { load, timeRefusals, coreTime: () => coreSeconds(replica.pid), kinds };
}

async function next<Message>(child: ChildProcess): Promise<Message> {
  const [message] = (await once(child, 'message')) as [Message]; // what its program says that it sends
  return message;
}

const nobody = `0x${'00'.repeat(19)}01`;
