import { insertNetwork } from '../../../src/chain/network-store.ts';
import type { Database } from '../../../src/contract/transaction.ts';
import { testNetwork } from '../../../test/support/networks.ts';
import { openDurableDatabase } from '../durable-database.ts';
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

/** The result, with the number of rows of history, and the bytes of each table and database index. */
export type WholeIndex = IndexerRun & { readonly rows: number; readonly bytesPerTransaction: Sizes };

/** By the name of a table, and of `table.index`. */
type Sizes = Readonly<Record<string, number>>;

/** Indexes the mix of the chain, into a database of its own. */
export async function indexWhole(
  chain: BenchChain,
  { traces, parallel, say }: IndexOptions,
): Promise<WholeIndex> {
  const { db, url, close } = await openDurableDatabase();
  try {
    const { rpcUrl, chainId, contracts, first, last } = chain;
    const indexFrom = String(first);
    await insertNetwork(
      db,
      testNetwork([rpcUrl], { indexFrom, indexTraces: traces, wrappedNatives: [contracts.Wrapped] }),
    );
    const indexed = await runIndexer({ db, databaseUrl: url, chainId, last, parallel, say });
    say(`  indexed in ${rounded(indexed.milliseconds / 1_000)} s, at most ${indexed.peakMb} MB`);
    const bytesPerTransaction = await sizesOf(db, chain.transactions);
    return { ...indexed, rows: await countRows(db, chain), bytesPerTransaction };
  } finally {
    await close();
  }
}

/** What takes at least a byte for each transaction, the largest first, with the sum of everything. */
async function sizesOf(db: Database, transactions: number): Promise<Sizes> {
  const { rows } = await db.raw<{ rows: { readonly name: string; readonly bytes: string }[] }>(
    `SELECT coalesce(t.relname || '.', '') || c.relname AS name,
       CASE c.relkind WHEN 'i' THEN pg_relation_size(c.oid) ELSE pg_table_size(c.oid) END AS bytes
     FROM pg_class c LEFT JOIN pg_index i ON i.indexrelid = c.oid LEFT JOIN pg_class t ON t.oid = i.indrelid
     WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'i') ORDER BY bytes DESC`,
  );
  const each = rows.map(({ name, bytes }) => [name, Number(bytes) / transactions] as const);
  const sum = each.reduce((all, [, bytes]) => all + bytes, 0);
  const large = each
    .filter(([, bytes]) => bytes >= 1)
    .map(([name, bytes]) => [name, rounded(bytes)] as const);
  return { all: rounded(sum), ...Object.fromEntries(large) };
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
