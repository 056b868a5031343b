import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { prepareDatabase } from '../../../src/compose/migrate.ts';
import { createDatabase } from '../../../src/db/connect.ts';
import { createLogger } from '../../../src/log.ts';
import { startDatabaseServer } from '../../load/database-server.ts';
import { startReplicaServer } from '../../load/replica-server.ts';
import { createWorld } from '../../load/world.ts';
import { areHeld, atMost } from '../limits.ts';
import { rounded, type Suite } from '../suite.ts';
import { measureCluster } from './cluster.ts';
import { measureLanes } from './lanes.ts';
import { type Case, measureLists } from './lists.ts';
import { measurePooler } from './pooler.ts';
import { measureWorkers } from './workers.ts';

// None of its nodes is asked.
const nowhere = { rpcUrls: ['http://127.0.0.1:9'], contract: `0x${'11'.repeat(20)}`, unclaimed: 2 };

/** What more processes, a replica, a pooler, more signers, more workers and a cluster give and cost. */
export const growthSuite: Suite = {
  about:
    'One process against two, a replica, a pooler, 1 to 4 signers, 2 workers, a cluster (CITUS_URL); some 4 minutes',
  async run({ isQuick, say }) {
    await using opened = new AsyncDisposableStack();
    const folder = opened.adopt(await mkdtemp(path.join(tmpdir(), 'tallystick-growth-')), (made) =>
      rm(made, { recursive: true, force: true }),
    );
    await chmod(folder, 0o755);
    const lists = await measureProcesses({ folder, isQuick, say });
    const lanes = await measureLanes({ folder, isQuick, say });
    const workers = await measureWorkers({ folder, isQuick, say });
    const cluster = await measureCluster({ isQuick, say });
    const ratios = { ...lists.ratios, ...lanes.ratios, ...workers.ratios, ...cluster?.ratios };
    const limits = { primaryWorkWithReplica: atMost(lists.ratios.primaryWorkWithReplica, 0.6) };
    return {
      ...{ ok: areHeld(limits), limits, ratios, ...lists.found, lanes: lanes.found, workers: workers.found },
      ...(cluster && { cluster: cluster.found }),
    };
  },
};

type Options = {
  readonly folder: string;
  readonly isQuick: boolean;
  readonly say: (line: string) => void;
};

/** Lists by one process, by two, by one with a replica, and through a pooler. */
async function measureProcesses({ folder, isQuick, say }: Options) {
  await using opened = new AsyncDisposableStack();
  const primary = opened.adopt(await startDatabaseServer(path.join(folder, 'primary')), (each) =>
    each.close(),
  );
  const log = createLogger({ level: 'silent' });
  const db = createDatabase(primary.url, { poolMax: 2, log });
  opened.defer(() => db.destroy());
  await prepareDatabase(db);
  const { acme } = await createWorld(db, nowhere);
  const follow = () => startReplicaServer(path.join(folder, 'replica'), { server: primary, db }, primary.url);
  const replica = opened.adopt(await follow(), (each) => each.close());
  const around = { folder, db, key: acme.key, isQuick };
  const measure = async (name: string, { processes, settings }: Case) => {
    const all = { DATABASE_URL: primary.url, ...settings };
    const measured = await measureLists({ processes, settings: all }, around);
    say(`${name}: ${JSON.stringify(measured)}`);
    return measured;
  };
  const oneProcess = await measure('oneProcess', { processes: 1, settings: {} });
  const twoProcesses = await measure('twoProcesses', { processes: 2, settings: {} });
  const oneProcessWithReplica = await measure('oneProcessWithReplica', {
    processes: 1,
    settings: { DATABASE_REPLICA_URL: replica.url },
  });
  const pooler = await measurePooler(primary.url, around);
  say(`pooler: ${JSON.stringify(pooler)}`);
  return {
    found: { oneProcess, twoProcesses, oneProcessWithReplica, ...(pooler && { pooler: pooler.found }) },
    ratios: {
      paceOfTwoProcesses: rounded(twoProcesses.perSecond / oneProcess.perSecond),
      primaryWorkWithReplica: rounded(
        oneProcessWithReplica.transactionsPerThousand / oneProcess.transactionsPerThousand,
      ),
      ...pooler?.ratios,
    },
  };
}
