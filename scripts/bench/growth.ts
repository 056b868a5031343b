import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { prepareDatabase } from '../../src/compose/migrate.ts';
import type { Database } from '../../src/contract/transaction.ts';
import { createDatabase } from '../../src/db/connect.ts';
import { createLogger } from '../../src/log.ts';
import { startDatabaseServer } from '../load/database-server.ts';
import { type Replica, startReplica } from '../load/replica.ts';
import { startReplicaServer } from '../load/replica-server.ts';
import { createWorld, worldKey } from '../load/world.ts';
import { areHeld, atMost } from './limits.ts';
import { rounded, type Suite } from './suite.ts';

const inFlight = 16;
const lists = ['/events/v1/api/event?limit=20', '/v1/api/rwa?limit=20'];
// None of its nodes is asked.
const nowhere = { rpcUrls: ['http://127.0.0.1:9'], contract: `0x${'11'.repeat(20)}`, unclaimed: 2 };

type Case = { readonly processes: number; readonly settings: Readonly<Record<string, string>> };
type Measured = {
  readonly perSecond: number;
  /** Of the primary, its own work included. */
  readonly transactionsPerThousand: number;
  /** Seconds of CPU of the processes of the service. */
  readonly cpuPerThousand: number;
};

/** What more processes and a replica give and cost where lists are read. */
export const growthSuite: Suite = {
  about: 'Lists from one process, from two, and from a replica: pace, work of the primary; about a minute',
  async run({ isQuick, say }) {
    await using opened = new AsyncDisposableStack();
    const folder = opened.adopt(await mkdtemp(path.join(tmpdir(), 'tallystick-growth-')), (made) =>
      rm(made, { recursive: true, force: true }),
    );
    await chmod(folder, 0o755);
    const primary = opened.adopt(await startDatabaseServer(path.join(folder, 'primary')), (each) =>
      each.close(),
    );
    const log = createLogger({ level: 'silent' });
    const db = createDatabase(primary.url, { poolMax: 2, log });
    opened.defer(() => db.destroy());
    await prepareDatabase(db);
    const { acme } = await createWorld(db, nowhere);
    const follow = () =>
      startReplicaServer(path.join(folder, 'replica'), { server: primary, db }, primary.url);
    const replica = opened.adopt(await follow(), (each) => each.close());
    const cases: Readonly<Record<string, Case>> = {
      oneProcess: { processes: 1, settings: {} },
      twoProcesses: { processes: 2, settings: {} },
      oneProcessWithReplica: { processes: 1, settings: { DATABASE_REPLICA_URL: replica.url } },
    };
    const found: Record<string, Measured> = {};
    for (const [name, chosen] of Object.entries(cases)) {
      const settings = { DATABASE_URL: primary.url, ...chosen.settings };
      found[name] = await measure({ ...chosen, settings }, { folder, db, key: acme.key, isQuick });
      say(`${name}: ${JSON.stringify(found[name])}`);
    }
    const { oneProcess, twoProcesses, oneProcessWithReplica } = found;
    if (!oneProcess || !twoProcesses || !oneProcessWithReplica) throw new Error('A case is missing.');
    const ratios = {
      paceOfTwoProcesses: rounded(twoProcesses.perSecond / oneProcess.perSecond),
      primaryWorkWithReplica: rounded(
        oneProcessWithReplica.transactionsPerThousand / oneProcess.transactionsPerThousand,
      ),
    };
    const limits = { primaryWorkWithReplica: atMost(ratios.primaryWorkWithReplica, 0.6) };
    return { ok: areHeld(limits), limits, ratios, ...found };
  },
};

type Around = {
  readonly folder: string;
  readonly db: Database;
  readonly key: string;
  readonly isQuick: boolean;
};

async function measure(
  { processes, settings }: Case,
  { folder, db, key, isQuick }: Around,
): Promise<Measured> {
  const sealing = `load:${worldKey.toString('base64')}`;
  const own = { ROLES: 'api', SECRET_KEYS: sealing, CURSOR_KEYS: sealing, RATE_LIMIT_PER_SECOND: '100000' };
  const started: Replica[] = [];
  try {
    for (let index = 0; index < processes; index += 1) {
      const all = {
        ...own,
        RATE_LIMIT_BURST: '100000',
        MAX_BUSY_MS: '10000',
        MAX_WAIT_MS: '5000',
        ...settings,
      };
      started.push(await startReplica({ name: `growth-${index}`, folder, settings: all }));
    }
    await ask(started, key, 500);
    const before = { work: await transactionsOf(db), cpu: await cpuOf(started), at: performance.now() };
    const count = isQuick ? 1_000 : 4_000;
    await ask(started, key, count);
    const seconds = (performance.now() - before.at) / 1_000;
    // What is counted is told to others within a second.
    await db.raw('SELECT pg_stat_clear_snapshot(), pg_sleep(1.5)');
    return {
      perSecond: rounded(count / seconds),
      transactionsPerThousand: rounded(((await transactionsOf(db)) - before.work) / (count / 1_000)),
      cpuPerThousand: rounded(((await cpuOf(started)) - before.cpu) / (count / 1_000)),
    };
  } finally {
    await Promise.all(started.map((each) => each.stop()));
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
  const { rows } = await db.raw(
    'SELECT (xact_commit + xact_rollback)::float8 AS count FROM pg_stat_database WHERE datname = current_database()',
  );
  return rows[0].count;
}

async function cpuOf(processes: readonly Replica[]): Promise<number> {
  const each = await Promise.all(
    processes.map(async ({ operationsPort }) => {
      const text = await (await fetch(`http://127.0.0.1:${operationsPort}/metrics`)).text();
      return Number(/^process_cpu_seconds_total ([\d.e-]+)$/m.exec(text)?.[1]);
    }),
  );
  return each.reduce((sum, seconds) => sum + seconds, 0);
}
