import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { LoadFigures, LoadTask } from '../load/load-process.ts';
import { startReplica } from '../load/replica.ts';
import { createWorld, worldKey } from '../load/world.ts';
import { areHeld, atLeast, atMost, below, type Limits } from './limits.ts';
import { startBenchPostgres } from './mint/bench-postgres.ts';
import { served } from './start-service.ts';
import { rounded, type Suite } from './suite.ts';

const refusingProgram = path.resolve(import.meta.dirname, '../load/refusing-process.ts');
const loadProgram = path.resolve(import.meta.dirname, '../load/load-process.ts');
const connectionSteps = [8, 16, 32, 64];
// As many as come when nobody waits for an answer before asking again.
const manyConnections = 2_000;
const times = 3;
const limits = { p99Ms: 1_000, goodput: 0.8 };

type Asked = Pick<LoadTask, 'paths' | 'body'>;
/** Asks the process that makes the load, so that who measures does not also serve. */
type Load = (task: Omit<LoadTask, 'port' | 'key'>) => Promise<LoadFigures>;
/** Starts a process that refuses so many a second, and nothing else, of callers that are processes of their own. */
type Refuse = (perSecond: number, seconds: number) => Promise<() => Promise<void>>;

export const overloadSuite: Suite = {
  about:
    'Three times as many reads and writes as one process can serve, against the most that it serves; about 4 minutes',
  async run({ isQuick, say }) {
    const folder = await mkdtemp(path.join(tmpdir(), 'tallystick-overload-'));
    await using opened = new AsyncDisposableStack();
    opened.defer(() => rm(folder, { recursive: true, force: true }));
    const { load, refuse, reads, writes } = await startService(folder, opened);
    const seconds = isQuick ? 3 : 10;
    say('Writes: new events');
    const ofWrites = await measure((task) => load({ ...task, ...writes }), { refuse, seconds, say });
    say('Reads: one event');
    const ofReads = await measure((task) => load({ ...task, ...reads }), { refuse, seconds, say });
    const held = { ...limitsOf('writes', ofWrites), ...limitsOf('reads', ofReads) };
    const ratios = {
      writesGoodputBesideBareRefusals: goodputBeside(ofWrites),
      readsGoodputBesideBareRefusals: goodputBeside(ofReads),
    };
    return { ok: areHeld(held), limits: held, ratios, writes: ofWrites, reads: ofReads };
  },
};

type Measured = { readonly best: number; readonly beside: LoadFigures; readonly over: LoadFigures };

/**
 * What is served, to the best, while a process that does nothing else refuses what the service would refuse: more than that
 * it can't serve on this machine however little a refusal costs it.
 */
const goodputBeside = ({ best, beside }: Measured) => rounded(beside.servedPerSecond / best);

const limitsOf = (name: string, { best, over }: Measured): Limits => ({
  [`${name}AcceptedP99Ms`]: below(over.p99Ms, limits.p99Ms),
  [`${name}GoodputToBest`]: atLeast(rounded(over.servedPerSecond / best), limits.goodput),
  [`${name}NeitherServedNorRefused`]: atMost(over.wrong, 0),
});

type Steps = (task: Omit<LoadTask, 'port' | 'key' | 'paths'>) => Promise<LoadFigures>;

type MeasureOptions = {
  readonly refuse: Refuse;
  readonly seconds: number;
  readonly say: (line: string) => void;
};

async function measure(load: Steps, { refuse, seconds, say }: MeasureOptions) {
  await load({ seconds, connections: 16 });
  const steps: LoadFigures[] = [];
  for (const connections of connectionSteps) {
    const figures = await load({ seconds, connections });
    say(`${connections} connections: ${figures.servedPerSecond} a second, p99 ${figures.p99Ms} ms`);
    steps.push(figures);
  }
  const best = Math.max(...steps.map(({ servedPerSecond }) => servedPerSecond));
  const stop = await refuse(best * (times - 1), seconds * 2);
  const beside = await load({ seconds, connections: connectionSteps.at(-1) ?? 0 });
  await stop();
  say(`${beside.servedPerSecond} a second beside a process that refuses ${best * (times - 1)}`);
  const over = await load({ seconds: seconds * 2, connections: manyConnections, perSecond: best * times });
  say(
    `${best * times} a second: ${over.servedPerSecond} served, p99 ${over.p99Ms} ms, ${over.refused} refused, otherwise ${JSON.stringify(over.wrongBy)}`,
  );
  return { best, steps, beside, over };
}

async function startService(folder: string, opened: AsyncDisposableStack) {
  const postgres = opened.adopt(await startBenchPostgres(folder), (server) => server.close());
  const { db, url } = await postgres.createDatabase();
  const { acme } = await createWorld(db, { rpcUrls: ['http://127.0.0.1:9'], contract: nobody, unclaimed: 2 });
  const key = `load:${worldKey.toString('base64')}`;
  const settings = {
    ...{ DATABASE_URL: url, ROLES: 'api', SECRET_KEYS: key, CURSOR_KEYS: key, DRAIN_SECONDS: '0' },
    // One key sends everything, from one address.
    ...{ RATE_LIMIT_PER_SECOND: '0', MAX_CONNECTIONS_PER_ADDRESS: '100000', MAX_CONNECTIONS: '100000' },
    LOG_LEVEL: 'info',
  };
  const replica = opened.adopt(await startReplica({ name: 'api', folder, settings }), (running) =>
    running.stop(),
  );
  const loading = opened.adopt(fork(loadProgram), (running: ChildProcess) => void running.disconnect());
  const ask = async (task: Omit<LoadTask, 'key'>) => {
    loading.send({ ...task, key: acme.key } satisfies LoadTask);
    const [figures] = (await once(loading, 'message')) as [LoadFigures]; // what it sends
    return figures;
  };
  const load: Load = (task) => ask({ ...task, port: replica.port });
  const reads: Asked = { paths: acme.events.map((id) => `/events/v1/api/event/${id}`) };
  const writes: Asked = { paths: ['/events/v1/api/event'], body: JSON.stringify(newEvent) };
  const refuse: Refuse = async (perSecond, seconds) => {
    const refusing = fork(refusingProgram, { execArgv: served.slice(0, -1) });
    const asking = fork(loadProgram);
    const [port] = (await once(refusing, 'message')) as [number]; // what it sends
    const task = { ...reads, key: acme.key, port, perSecond, seconds, connections: manyConnections };
    asking.send(task satisfies LoadTask);
    const done = once(asking, 'message');
    // Until all are connected.
    await pause(1_000);
    return async () => {
      await done;
      refusing.disconnect();
      asking.disconnect();
    };
  };
  return { load, refuse, reads, writes };
}

const newEvent = {
  name: 'Harvest supper',
  location: 'Long barn',
  maxAttendees: 50,
  price: 45.5,
  currency: 'EUR',
};

const nobody = `0x${'00'.repeat(19)}01`;
