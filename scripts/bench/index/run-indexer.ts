import { readFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import type { Database } from '../../../src/contract/transaction.ts';
import { startUnpinned } from '../start-service.ts';

export type IndexerRun = {
  /** From the moment it may index until the last block is committed. */
  readonly milliseconds: number;
  /** The most resident memory of the process, in MB. */
  readonly peakMb: number;
};

type RunOptions = {
  readonly db: Database;
  readonly databaseUrl: string;
  readonly chainId: string;
  /** Its number ends the run. */
  readonly last: number;
  readonly parallel: number;
  readonly say: (line: string) => void;
};

const longestMs = 15 * 60_000;

/** Starts the service with the role of the indexer as a process of its own, and stops it at the last block. */
export async function runIndexer({
  db,
  databaseUrl,
  chainId,
  last,
  parallel,
  say,
}: RunOptions): Promise<IndexerRun> {
  const begun = Promise.withResolvers<number>();
  const env = { ROLES: 'indexer', DATABASE_URL: databaseUrl, INDEX_PARALLEL: String(parallel) };
  const service = await startUnpinned(env, (text) => {
    if (text.includes('"msg":"indexing"')) begun.resolve(performance.now());
  });
  const timer = setTimeout(() => begun.reject(new Error('the indexer did not begin')), 60_000);
  const started = await begun.promise.finally(() => clearTimeout(timer));
  for (let [head, looks] = [0, 0]; head < last; looks += 1) {
    if (performance.now() - started > longestMs) throw new Error(`the index is still at ${head} of ${last}`);
    await wait(100);
    const [state]: { head_number: string | null }[] = await db('index_state').where('chain_id', chainId);
    head = Number(state?.head_number ?? 0);
    if (looks % 50 === 0) say(`  block ${head} of ${last}`);
  }
  const milliseconds = performance.now() - started;
  const [, kilobytes] = /^VmHWM:\s+(\d+) kB/m.exec(readFileSync(`/proc/${service.pid}/status`, 'utf8')) ?? [];
  await service.stop();
  return { milliseconds, peakMb: Math.round(Number(kilobytes) / 1_024) };
}
