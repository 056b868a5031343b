import { randomUUID } from 'node:crypto';
import { prepareDatabase } from '../../../src/compose/migrate.ts';
import type { Database } from '../../../src/contract/transaction.ts';
import { historyQuery } from '../../../src/providers/indexer/read/history-page-store.ts';
import { createCitusDatabase, createEmptyCitusDatabase } from '../../../test/support/citus.ts';
import { rounded } from '../suite.ts';

const wallets = 64;
const inFlight = 8;
const walletOf = (index: number) => `0x${(index + 1).toString(16).padStart(40, '0')}`;

type Measured = {
  /** Of a page of 100 rows, for one reader: half of them, in milliseconds. */
  readonly pageMs: number;
  readonly pagesPerSecond: number;
  /** Of a transaction that adds 1,024 rows of all wallets, as a batch of blocks does, in milliseconds. */
  readonly batchMs: number;
};

/**
 * Pages of histories and a batch of rows, in a database of the coordinator alone and in one that is spread over the cluster
 * of `CITUS_URL`; nothing without it.
 */
export async function measureCluster({
  isQuick,
  say,
}: {
  readonly isQuick: boolean;
  readonly say: (line: string) => void;
}) {
  const url = process.env['CITUS_URL'];
  if (url === undefined) return undefined;
  const name = (kind: string) => `bench_${kind}_${randomUUID().slice(0, 8)}`;
  const alone = await createEmptyCitusDatabase(url, name('alone'));
  const spread = await createCitusDatabase(url, name('spread'));
  try {
    await prepareDatabase(alone.db);
    const [one, cluster] = [await measure(alone.db, isQuick), await measure(spread.db, isQuick)];
    say(`one server: ${JSON.stringify(one)}; cluster: ${JSON.stringify(cluster)}`);
    return {
      found: { one, cluster },
      ratios: {
        pageOfCluster: rounded(cluster.pageMs / one.pageMs),
        paceOfCluster: rounded(cluster.pagesPerSecond / one.pagesPerSecond),
        batchOfCluster: rounded(cluster.batchMs / one.batchMs),
      },
    };
  } finally {
    await alone.close();
    await spread.close();
  }
}

async function measure(db: Database, isQuick: boolean): Promise<Measured> {
  await db.raw(
    "INSERT INTO index_state (chain_id, start_block, head_number, head_hash, head_time) VALUES (1, 0, 9, sha256('head'), now())",
  );
  await addRows(db, 0, isQuick ? 500 : 2_000);
  await db.raw('ANALYZE wallet_history');
  const pages = isQuick ? 400 : 1_500;
  await read(db, 100, 1);
  const alone = await read(db, pages, 1);
  const together = await read(db, pages, inFlight);
  const batches: number[] = [];
  for (let batch = 0; batch < 20; batch += 1) {
    const began = performance.now();
    await addRows(db, 10_000 + batch * 16, 16);
    batches.push(performance.now() - began);
  }
  return { pageMs: alone.halfMs, pagesPerSecond: together.perSecond, batchMs: rounded(half(batches)) };
}

/** So many rows of each wallet, from a block on. */
function addRows(db: Database, block: number, count: number): Promise<unknown> {
  return db.raw(
    `INSERT INTO wallet_history SELECT 1, decode(lpad(to_hex(w), 40, '0'), 'hex'), ?::int + n, 0, sha256(n::text::bytea),
       sha256(n::text::bytea), to_timestamp(n * 12), json_build_array(repeat('x', 500)), NULL, 1
     FROM generate_series(1, ?::int) n, generate_series(1, ?::int) w`,
    [block, count, wallets],
  );
}

async function read(db: Database, count: number, readers: number) {
  const times: number[] = [];
  let next = 0;
  const reader = async () => {
    for (let index = next++; index < count; index = next++) {
      const wallet = walletOf(index % wallets);
      const { sql, bindings } = historyQuery({
        ...{ chainId: '1', wallet, order: 'DESC', limit: 101, after: undefined },
      });
      const began = performance.now();
      const { rows } = await db.raw<{ rows: unknown[] }>(sql, bindings);
      if (rows.length !== 101) throw new Error(`${wallet} has ${rows.length} rows`);
      times.push(performance.now() - began);
    }
  };
  const began = performance.now();
  await Promise.all(Array.from({ length: readers }, reader));
  const seconds = (performance.now() - began) / 1_000;
  return { halfMs: rounded(half(times)), perSecond: rounded(count / seconds) };
}

const half = (times: readonly number[]) =>
  times.toSorted((one, other) => one - other)[Math.floor(times.length / 2)] ?? 0;
