import { createLogger } from '../../../src/base/log.ts';
import { insertNetwork } from '../../../src/chain/network-store.ts';
import { prepareDatabase } from '../../../src/compose/migrate.ts';
import type { Database } from '../../../src/contract/transaction.ts';
import { createDatabase } from '../../../src/db/connection/connect.ts';
import { migrationLimits } from '../../../src/db/connection/session-limits.ts';
import { testNetwork } from '../../../test/support/networks.ts';
import { startPostgres, type TestPostgres } from '../../../test/support/postgres.ts';
import { rounded } from '../suite.ts';
import type { BenchChain } from './bench-chain.ts';
import { type IndexerRun, runIndexer } from './run-indexer.ts';

export type Traces = 'none' | 'trace';

type IndexOptions = {
  readonly traces: Traces;
  /** INDEX_PARALLEL. */
  readonly parallel: number;
  readonly say: (line: string) => void;
};

/** As a server comes: every commit waits for the disk. */
const startDurablePostgres = (): Promise<TestPostgres> =>
  startPostgres({ isDurable: true, settings: ['fsync=on', 'full_page_writes=on'] });

/** What came of it, with how many rows of history there are. */
export type WholeIndex = IndexerRun & { readonly rows: number };

/** Indexes the mix of the chain, into a database of its own. */
export async function indexWhole(
  chain: BenchChain,
  { traces, parallel, say }: IndexOptions,
): Promise<WholeIndex> {
  const postgres = await startDurablePostgres();
  const log = createLogger({ level: 'silent' });
  const db = createDatabase(postgres.url, { poolMax: 2, log, limits: migrationLimits });
  try {
    await prepareDatabase(db);
    const { rpcUrl, chainId, contracts, first, last } = chain;
    const indexFrom = String(first);
    await insertNetwork(
      db,
      testNetwork([rpcUrl], { indexFrom, indexTraces: traces, wrappedNatives: [contracts.Wrapped] }),
    );
    const indexed = await runIndexer({
      db,
      databaseUrl: postgres.url,
      chainId,
      last,
      parallel,
      say,
    });
    say(`  indexed in ${rounded(indexed.milliseconds / 1_000)} s, at most ${indexed.peakMb} MB`);
    return { ...indexed, rows: await countRows(db, chain) };
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
