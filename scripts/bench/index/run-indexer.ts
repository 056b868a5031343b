import { readFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import type { Database } from '../../../src/contract/transaction.ts';
import { serverPid, treeMs } from '../process-tree.ts';
import { startBenchService } from '../start-service.ts';

export type IndexerRun = {
  /** From the moment it may index until the last block is committed. */
  readonly milliseconds: number;
  /** Resident memory of the process in MB: its peak, and what it was on average in the first and the last quarter. */
  readonly memoryMb: { readonly peak: number; readonly firstQuarter: number; readonly lastQuarter: number };
  /** Milliseconds of a core meanwhile. */
  readonly cpuMs: { readonly node: number; readonly indexer: number; readonly postgres: number };
};

type RunOptions = {
  readonly db: Database;
  readonly databaseUrl: string;
  readonly chainId: string;
  /** The process of the node. */
  readonly nodePid: number;
  /** Its number ends the run. */
  readonly last: number;
  readonly parallel: number;
  readonly say: (line: string) => void;
};

const longestMs = 15 * 60_000;

/** Starts the service with the role of the indexer as a process of its own, and stops it at the last block. */
export async function runIndexer(options: RunOptions): Promise<IndexerRun> {
  const { db, databaseUrl, nodePid, parallel, say } = options;
  const postgres = await serverPid(db);
  const begun = Promise.withResolvers<number>();
  const service = startBenchService({
    env: { ROLES: 'indexer', DATABASE_URL: databaseUrl, INDEX_PARALLEL: String(parallel) },
    say,
    onLog(line) {
      if (line.includes('"msg":"indexing"')) begun.resolve(performance.now());
    },
  });
  const timer = setTimeout(() => begun.reject(new Error('the indexer did not begin')), 60_000);
  const started = await begun.promise.finally(() => clearTimeout(timer));
  const used = () => ({ node: treeMs(nodePid), indexer: treeMs(service.pid), postgres: treeMs(postgres) });
  const before = used();
  const samples = await watch(options, service.pid);
  const milliseconds = performance.now() - started;
  const after = used();
  const peak = memoryOf(service.pid, 'VmHWM');
  await service.stop();
  const quarter = Math.max(1, Math.floor(samples.length / 4));
  return {
    milliseconds,
    cpuMs: {
      node: after.node - before.node,
      indexer: after.indexer - before.indexer,
      postgres: after.postgres - before.postgres,
    },
    memoryMb: {
      peak: Math.round(peak),
      firstQuarter: Math.round(mean(samples.slice(0, quarter))),
      lastQuarter: Math.round(mean(samples.slice(-quarter))),
    },
  };
}

/** @returns the memory at each look, until the last block is there */
async function watch({ db, chainId, last, say }: RunOptions, pid: number): Promise<number[]> {
  const samples: number[] = [];
  const deadline = performance.now() + longestMs;
  for (let head = 0; head < last; ) {
    if (performance.now() > deadline) throw new Error(`the index is still at block ${head} of ${last}`);
    await wait(100);
    samples.push(memoryOf(pid, 'VmRSS'));
    const [state]: { head_number: string | null }[] = await db('index_state').where('chain_id', chainId);
    head = Number(state?.head_number ?? 0);
    if (samples.length % 50 === 0) say(`  block ${head} of ${last}, ${Math.round(samples.at(-1) ?? 0)} MB`);
  }
  return samples;
}

/** Of a process, in MB, as Linux tells it. */
function memoryOf(pid: number, field: 'VmRSS' | 'VmHWM'): number {
  const [, kilobytes] =
    new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kilobytes) / 1_024;
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
