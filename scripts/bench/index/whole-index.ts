import { createLogger } from '../../../src/base/log.ts';
import { insertNetwork } from '../../../src/chain/network-store.ts';
import { prepareDatabase } from '../../../src/compose/migrate.ts';
import type { Database } from '../../../src/contract/transaction.ts';
import { createDatabase } from '../../../src/db/connection/connect.ts';
import { migrationLimits } from '../../../src/db/connection/session-limits.ts';
import { testNetwork } from '../../../test/support/networks.ts';
import { startPostgres, type TestPostgres } from '../../../test/support/postgres.ts';
import { rounded } from '../suite.ts';
import { copyBare } from './bare-copy.ts';
import type { BenchChain } from './bench-chain.ts';
import { type IndexerRun, runIndexer } from './run-indexer.ts';

export type Traces = 'none' | 'trace';

type IndexOptions = {
  readonly traces: Traces;
  /** INDEX_PARALLEL. */
  readonly parallel: number;
  /** Whether the rows are copied once more, with nothing else around, to learn what that takes. */
  readonly copies?: boolean;
  readonly say: (line: string) => void;
};

/** As a server comes: every commit waits for the disk. */
const startDurablePostgres = (): Promise<TestPostgres> =>
  startPostgres({ isDurable: true, settings: ['fsync=on', 'full_page_writes=on'] });

export type WholeIndex = {
  readonly indexed: IndexerRun;
  /** Of history. */
  readonly rows: number;
  /** Milliseconds of a core for a bare COPY of all rows; 0 where it was not asked for. */
  readonly copyMs: number;
};

/** Indexes the mix of the chain, into a database of its own. */
export async function indexWhole(
  chain: BenchChain,
  { traces, parallel, copies = false, say }: IndexOptions,
): Promise<WholeIndex> {
  const postgres = await startDurablePostgres();
  const log = createLogger({ level: 'silent' });
  const db = createDatabase(postgres.url, { poolMax: 2, log, limits: migrationLimits });
  try {
    await prepareDatabase(db);
    const { rpcUrl, chainId, pid: nodePid, contracts, first, last } = chain;
    const indexFrom = String(first);
    await insertNetwork(
      db,
      testNetwork([rpcUrl], { indexFrom, indexTraces: traces, wrappedNatives: [contracts.Wrapped] }),
    );
    const indexed = await runIndexer({
      ...{ db, databaseUrl: postgres.url, chainId, nodePid, last, parallel, say },
    });
    say(`  indexed in ${rounded(indexed.milliseconds / 1_000)} s, at most ${indexed.memoryMb.peak} MB`);
    const rows = await countRows(db, chain);
    return { indexed, rows, copyMs: copies ? await copyBare(db) : 0 };
  } finally {
    await db.destroy();
    await postgres.close();
  }
}

/** @throws Error when a transaction is missing: a fast index that is not whole is none */
async function countRows(db: Database, chain: BenchChain): Promise<number> {
  const { rows } = await db.raw<{ rows: [{ readonly rows: string; readonly transactions: string }] }>(
    'SELECT count(*) AS rows, count(DISTINCT tx_hash) AS transactions FROM wallet_history',
  );
  const [counts] = rows;
  if (Number(counts.transactions) !== chain.transactions) {
    throw new Error(`${counts.transactions} of ${chain.transactions} transactions are in the index`);
  }
  return Number(counts.rows);
}
