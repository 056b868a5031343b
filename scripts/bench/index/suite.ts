import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { createNetworkStore } from '../../../src/chain/network-store.ts';
import { createDatabase } from '../../../src/db/connect.ts';
import { migrateToLatest } from '../../../src/db/migrate.ts';
import { createLogger } from '../../../src/log.ts';
import { startPostgres } from '../../../test/support/postgres.ts';
import { testNetwork } from '../../../test/support/networks.ts';
import { rounded, type Suite } from '../suite.ts';
import { type BenchChain, benchChainId, buildBenchChain } from './bench-chain.ts';
import { type IndexerRun, runIndexer } from './run-indexer.ts';

/** The setting's default. */
const parallel = 8;
const limits = { indexedToDownload: 0.5, memoryMb: 400 };

export const indexSuite: Suite = {
  about: 'Indexing a local chain of 2,000 blocks with 50 mixed transactions, against downloading it',
  async run({ isQuick, say }) {
    const chain = await buildBenchChain({ blocks: isQuick ? 200 : 2_000, say });
    try {
      // The faster of two downloads, one before and one after: the stricter comparison.
      const before = await download(chain, say);
      const indexed = await index(chain, say);
      const after = await download(chain, say);
      return figures(chain, indexed, before.milliseconds < after.milliseconds ? before : after);
    } finally {
      await chain.close();
    }
  },
};

type Download = { readonly milliseconds: number; readonly bytes: number };

export async function download({ rpcUrl, first, last }: BenchChain, traces: boolean, say: (line: string) => void): Promise<Download> {
  const range = ['--first', String(first), '--last', String(last), '--parallel', String(parallel)];
  const program = [`${import.meta.dirname}/download.ts`, '--url', rpcUrl, ...range, ...(traces ? ['--traces'] : [])];
  const { stdout } = await promisify(execFile)(process.execPath, program, { timeout: 10 * 60_000 });
  const done: Download = JSON.parse(stdout);
  say(`  downloaded ${Math.round(done.bytes / 1e6)} MB in ${rounded(done.milliseconds / 1_000)} s`);
  return done;
}

export async function index(chain: BenchChain, traces: boolean, say: (line: string) => void): Promise<IndexerRun & { readonly rows: number }> {
  // As a server comes: every commit waits for the disk.
  const postgres = await startPostgres([]);
  const db = createDatabase(postgres.url, { poolMax: 2, log: createLogger({ level: 'silent' }) });
  try {
    await migrateToLatest(db);
    const { rpcUrl, first, last } = chain;
    const network = testNetwork([rpcUrl], {
      ...{ chainId: benchChainId, indexFrom: String(first), indexTraces: traces ? 'trace' : 'none' },
    });
    await createNetworkStore({ db }).add(network);
    const nodeFlags = process.execArgv;
    const run = await runIndexer({
      ...{ db, databaseUrl: postgres.url, chainId: benchChainId, last, parallel, nodeFlags, say },
    });
    say(`  indexed in ${rounded(run.milliseconds / 1_000)} s, at most ${run.memory.peak} MB`);
    return { ...run, rows: await countRows(db, chain) };
  } finally {
    await db.destroy();
    await postgres.close();
  }
}

type Counts = { readonly rows: string; readonly transactions: string };

/** @throws Error when a transaction is missing: a fast index that is not whole is none */
async function countRows(db: ReturnType<typeof createDatabase>, chain: BenchChain): Promise<number> {
  const { rows } = await db.raw<{ rows: [Counts] }>(
    'SELECT count(*) AS rows, count(DISTINCT tx_hash) AS transactions FROM wallet_history',
  );
  const [counts] = rows;
  if (Number(counts.transactions) !== chain.transactions) {
    throw new Error(`${counts.transactions} of ${chain.transactions} transactions are in the index`);
  }
  return Number(counts.rows);
}

export function figures(chain: BenchChain, indexed: IndexerRun & { readonly rows: number }, downloaded: Download) {
  const { transactions, first, last } = chain;
  const perSecond = (milliseconds: number) => rounded((transactions * 1_000) / milliseconds);
  const indexedToDownload = rounded(downloaded.milliseconds / indexed.milliseconds);
  return {
    ok: indexedToDownload >= limits.indexedToDownload && indexed.memory.peak < limits.memoryMb,
    ratios: { indexedToDownload },
    limits: { indexedToDownload: { atLeast: limits.indexedToDownload }, memoryMb: { below: limits.memoryMb } },
    compared: 'blocks, receipts and traces (trace_block); the download reads and forgets the bytes',
    blocks: last - first + 1,
    transactions,
    historyRows: indexed.rows,
    parallel,
    transactionsPerSecond: { indexed: perSecond(indexed.milliseconds), downloaded: perSecond(downloaded.milliseconds) },
    megabytes: Math.round(downloaded.bytes / 1e6),
    memoryMb: indexed.memory,
  };
}
