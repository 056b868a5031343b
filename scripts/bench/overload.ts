import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
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
/** Refusals a second of a process that does nothing else. */
type Refuse = (seconds: number) => Promise<number>;

export const overloadSuite: Suite = {
  about:
    'Three times as many reads and writes as one process can serve, against the most that it serves; about 3 minutes',
  async run({ isQuick, say }) {
    const folder = await mkdtemp(path.join(tmpdir(), 'tallystick-overload-'));
    await using opened = new AsyncDisposableStack();
    opened.defer(() => rm(folder, { recursive: true, force: true }));
    const { load, refuse, reads, writes } = await startService(folder, opened);
    const seconds = isQuick ? 3 : 10;
    const refusals = await refuse(seconds);
    say(`Bare Node refuses ${refusals} a second, and does nothing else`);
    say('Writes: new events');
    const ofWrites = await measure((task) => load({ ...task, ...writes }), seconds, say);
    say('Reads: one event');
    const ofReads = await measure((task) => load({ ...task, ...reads }), seconds, say);
    const held = { ...limitsOf('writes', ofWrites), ...limitsOf('reads', ofReads) };
    const ratios = {
      writesGoodputIfRefusedByBareNode: possibleGoodput(ofWrites.best, refusals),
      readsGoodputIfRefusedByBareNode: possibleGoodput(ofReads.best, refusals),
    };
    return { ok: areHeld(held), limits: held, ratios, refusals, writes: ofWrites, reads: ofReads };
  },
};

type Measured = { readonly best: number; readonly over: LoadFigures };

const limitsOf = (name: string, { best, over }: Measured): Limits => ({
  [`${name}AcceptedP99Ms`]: below(over.p99Ms, limits.p99Ms),
  [`${name}GoodputToBest`]: atLeast(rounded(over.servedPerSecond / best), limits.goodput),
  [`${name}NeitherServedNorRefused`]: atMost(over.wrong, 0),
});

/**
 * What would be served at most, to the best, if a refusal cost no more than it costs a server that does nothing else: the
 * core of the process is used up when `served / best + (offered - served) / refusals` is one.
 */
function possibleGoodput(best: number, refusals: number): number {
  const answered = (1 - (times * best) / refusals) / (1 / best - 1 / refusals);
  return rounded(Math.max(0, answered / best));
}

type Steps = (task: Omit<LoadTask, 'port' | 'key' | 'paths'>) => Promise<LoadFigures>;

async function measure(load: Steps, seconds: number, say: (line: string) => void) {
  await load({ seconds, connections: 16 });
  const steps: LoadFigures[] = [];
  for (const connections of connectionSteps) {
    const figures = await load({ seconds, connections });
    say(`${connections} connections: ${figures.servedPerSecond} a second, p99 ${figures.p99Ms} ms`);
    steps.push(figures);
  }
  const best = Math.max(...steps.map(({ servedPerSecond }) => servedPerSecond));
  const over = await load({ seconds: seconds * 2, connections: manyConnections, perSecond: best * times });
  say(
    `${best * times} a second: ${over.servedPerSecond} served, p99 ${over.p99Ms} ms, ${over.refused} refused, otherwise ${JSON.stringify(over.wrongBy)}`,
  );
  return { best, steps, over };
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
  const refuse: Refuse = async (seconds) => {
    const refusing = fork(refusingProgram, { execArgv: served.slice(0, -1) });
    try {
      const [port] = (await once(refusing, 'message')) as [number]; // what it sends
      const { refused } = await ask({ ...reads, port, seconds, connections: manyConnections });
      return Math.round(refused / seconds);
    } finally {
      refusing.disconnect();
    }
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
