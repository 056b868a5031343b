import type { Database } from '../../../src/contract/transaction.ts';
import { type Replica, startReplica } from '../../load/replica.ts';
import { worldKey } from '../../load/world.ts';
import { rounded } from '../suite.ts';

const inFlight = 16;
const warmUp = 500;
const lists = ['/events/v1/api/event?limit=20', '/v1/api/rwa?limit=20'];

const sealing = `load:${worldKey.toString('base64')}`;
/** Of every process of the api that is measured. */
export const ownSettings = {
  ...{ ROLES: 'api', SECRET_KEYS: sealing, CURSOR_KEYS: sealing },
  ...{
    RATE_LIMIT_PER_SECOND: '100000',
    RATE_LIMIT_BURST: '100000',
    MAX_BUSY_MS: '10000',
    MAX_WAIT_MS: '5000',
  },
};

export type Case = { readonly processes: number; readonly settings: Readonly<Record<string, string>> };
type Measured = {
  readonly perSecond: number;
  /** Of the primary, those of the start and its own work included. */
  readonly transactionsPerThousand: number;
  /** Seconds of CPU of the processes of the service. */
  readonly cpuPerThousand: number;
};

export type Around = {
  readonly folder: string;
  readonly db: Database;
  readonly key: string;
  readonly isQuick: boolean;
};

/** Reads lists from processes of the service that are started with these settings. */
export async function measureLists(
  { processes, settings }: Case,
  { folder, db, key, isQuick }: Around,
): Promise<Measured> {
  const before = await transactionsOf(db);
  const started: Replica[] = [];
  const count = isQuick ? 1_000 : 4_000;
  const stop = () => Promise.all(started.splice(0).map((each) => each.stop()));
  try {
    for (let index = 0; index < processes; index += 1) {
      const all = { ...ownSettings, ...settings };
      started.push(await startReplica({ name: `growth-${index}`, folder, settings: all }));
    }
    await ask(started, key, warmUp);
    const cpu = await cpuOf(started);
    const began = performance.now();
    await ask(started, key, count);
    const seconds = (performance.now() - began) / 1_000;
    const used = (await cpuOf(started)) - cpu;
    // A connection that goes on tells what it has done up to ten seconds later.
    await stop();
    return {
      perSecond: rounded(count / seconds),
      transactionsPerThousand: rounded(((await transactionsOf(db)) - before) / ((warmUp + count) / 1_000)),
      cpuPerThousand: rounded(used / (count / 1_000)),
    };
  } finally {
    await stop();
  }
}

/** Asks for the lists in turn, by turns of the processes. @throws Error when one is not answered */
async function ask(processes: readonly Replica[], key: string, count: number): Promise<void> {
  let next = 0;
  const caller = async () => {
    for (let index = next++; index < count; index = next++) {
      const port = processes[index % processes.length]?.port;
      const list = lists[Math.floor(index / processes.length) % lists.length];
      const asked = { headers: { 'x-api-key': key }, signal: AbortSignal.timeout(15_000) };
      const answer = await fetch(`http://127.0.0.1:${port}${list}`, asked);
      if (answer.status !== 200) throw new Error(`${list} was answered ${answer.status}`);
      await answer.arrayBuffer();
    }
  };
  await Promise.all(Array.from({ length: inFlight }, caller));
}

async function transactionsOf(db: Database): Promise<number> {
  await db.raw('SELECT pg_stat_clear_snapshot()');
  const { rows } = await db.raw(
    'SELECT (xact_commit + xact_rollback)::float8 AS count FROM pg_stat_database WHERE datname = current_database()',
  );
  return rows[0].count;
}

/** Seconds of CPU that they have used. */
export async function cpuOf(processes: readonly Replica[]): Promise<number> {
  const each = await Promise.all(
    processes.map(async ({ operationsPort }) => {
      const text = await (await fetch(`http://127.0.0.1:${operationsPort}/metrics`)).text();
      return Number(/^process_cpu_seconds_total ([\d.e-]+)$/m.exec(text)?.[1]);
    }),
  );
  return each.reduce((sum, seconds) => sum + seconds, 0);
}
