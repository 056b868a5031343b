import { setTimeout as pause } from 'node:timers/promises';
import { deleteIndex } from '../../../src/providers/indexer/store/rollback/reset-store.ts';
import { coreSeconds, residentMb } from '../http/cores.ts';
import type { DataSet } from '../http/data-set.ts';
import { chainId, createSigners, startBenchChain } from '../mint/bench-chain.ts';
import { startService } from '../start-service.ts';
import { rounded } from '../suite.ts';

export type Idle = {
  readonly transactionsPerSecond: number;
  readonly corePercent: number;
  readonly memoryMb: number;
};

type Environment = Readonly<Record<string, string>>;

// Until caches, pools and timers stay as they are, and repeated work is compiled.
const settleMs = 30_000;

/** What a process of all roles, with one network that it indexes and mints on, does while nobody asks. */
export async function measureIdleness(env: Environment, { db }: DataSet, seconds: number): Promise<Idle> {
  await using opened = new AsyncDisposableStack();
  const minters = await createSigners(1);
  const chain = opened.adopt(await startBenchChain(minters.addresses), (running) => running.close());
  // Blocks are work, for the index at least.
  await chain.rpc.call('evm_setIntervalMining', 0);
  await deleteIndex(db, chainId, { signal: new AbortController().signal, onProgress() {} });
  await db('networks').update({ rpc_urls: [chain.rpcUrl], minter_contract: chain.contract });
  const all = { ...env, ...minters.settings, ROLES: 'api,worker,indexer' };
  const service = opened.adopt(await startService(all), (running) => running.stop());
  await pause(settleMs);
  const [lane] = await db('mint_lanes').whereNotNull('holder');
  if (lane === undefined) throw new Error('No lane of the network is held, so no idle one was measured.');
  const [core, begun, transactions] = [coreSeconds(service.pid), performance.now(), await transactionsOf(db)];
  await pause(seconds * 1_000);
  const took = (performance.now() - begun) / 1_000;
  return {
    transactionsPerSecond: rounded(((await transactionsOf(db)) - transactions) / took),
    corePercent: rounded(((coreSeconds(service.pid) - core) / took) * 100),
    memoryMb: residentMb(service.pid),
  };
}

async function transactionsOf(db: DataSet['db']): Promise<number> {
  const { rows } = await db.raw<{ rows: { count: string }[] }>(
    'SELECT xact_commit + xact_rollback AS count FROM pg_stat_database WHERE datname = current_database()',
  );
  return Number(rows[0]?.count);
}
