import type { Database } from '../../../contract/transaction.ts';
import type { Freshness } from '../../shared/provider.ts';
import { readTransaction } from '../classify/stored-moves.ts';
import { bytes, hex } from '../store/rows/bulk-store.ts';
import { createNativeSums, creditKinds, kindName, type NativeChange } from '../store/rows/ledger-rows.ts';

/** Records that are read at most to come from one block to another. */
export const mostRecords = 10_000;

/** What the ledger of an index has, in addition to the sums of a wallet. */
export type LedgerState = {
  readonly head: Freshness;
  /** The first block of the sums. */
  readonly from: bigint;
  readonly untracedBlocks: bigint;
  readonly unrewardedBlocks: bigint;
  readonly partialFees: bigint;
};

export type WalletSums = {
  readonly state: LedgerState;
  /** Undefined where there are too many records on both sides of the block, or too large records. */
  readonly sums: NativeChange | undefined;
};

type Row = {
  readonly head_number: string;
  readonly head_hash: Buffer;
  readonly head_time: Date;
  readonly ledger_from: string;
  readonly untraced_blocks: string;
  readonly unrewarded_blocks: string;
  readonly partial_fees: string;
  readonly moved: string | null;
  readonly fees: string;
  readonly unknown_fees: string;
  readonly withdrawals: string;
  readonly rewards: string;
  readonly records: readonly RecordRow[] | null;
};
type RecordRow = {
  readonly tx: unknown;
  /** Incoming less outgoing amounts. Null for a credit, and for amounts beyond the limit of the read. */
  readonly moved: string | null;
  readonly kind: number | null;
  readonly amount: string | null;
};

const own = 'chain_id = :chainId AND wallet = :wallet::bytea';
const nothing: NativeChange = { moved: 0n, fees: 0n, unknownFees: 0n, withdrawals: 0n, rewards: 0n };

function toState(row: Row): LedgerState {
  return {
    head: { blockNumber: BigInt(row.head_number), blockHash: hex(row.head_hash), blockTime: row.head_time },
    from: BigInt(row.ledger_from),
    untracedBlocks: BigInt(row.untraced_blocks),
    unrewardedBlocks: BigInt(row.unrewarded_blocks),
    partialFees: BigInt(row.partial_fees),
  };
}

function toSums(row: Row): NativeChange {
  if (row.moved === null) return nothing;
  return {
    moved: BigInt(row.moved),
    fees: BigInt(row.fees),
    unknownFees: BigInt(row.unknown_fees),
    withdrawals: BigInt(row.withdrawals),
    rewards: BigInt(row.rewards),
  };
}

// As they are stored. To unpack them and find the native movements takes some seconds.
const mostBytes = 32 * 1024 * 1024;

// The server adds up: a contract that pays many accounts at once has a movement for each.
const movedOf = `(SELECT coalesce(sum((m->>2)::numeric * ((m->>1 = :account)::int - (m->>0 = :account)::int)), 0)::text
  FROM json_array_elements(coalesce(moves->'n', '[]')) m)`;

/** Returns the entries of a range of blocks: as many as the limit allows, and one more. */
function recordsQuery(range: string): string {
  // The order makes the planner read keys. A plan without the block, as in a cluster, prefers the whole table.
  const most = `ORDER BY block_number LIMIT ${mostRecords + 1}`;
  const stored = 'sum(coalesce(pg_column_size(moves), 0)) OVER (ORDER BY block_number, tx_index)';
  const credits = `SELECT c.* FROM generate_series(1, 4) k (kind) CROSS JOIN LATERAL (SELECT NULL::json AS tx,
      NULL::text AS moved, kind, amount::text FROM block_credits WHERE ${own} AND kind = k.kind AND ${range}
      ${most}) c`;
  const rows = `SELECT tx, CASE WHEN stored <= ${mostBytes} THEN ${movedOf} END AS moved, NULL::smallint AS kind,
      NULL::text AS amount
    FROM (SELECT *, ${stored} AS stored FROM (SELECT block_number, tx_index, tx, moves FROM wallet_history
      WHERE ${own} AND ${range} ${most}) found) measured`;
  return `SELECT * FROM ((${rows}) UNION ALL (${credits})) entries LIMIT ${mostRecords + 1}`;
}

const isTooMuch = (rows: readonly RecordRow[]) =>
  rows.length > mostRecords || rows.some(({ kind, moved }) => kind === null && moved === null);

function sumsOf(rows: readonly RecordRow[], wallet: string): NativeChange {
  const sums = createNativeSums();
  let all = 0n;
  for (const { tx, moved, kind, amount } of rows) {
    all += BigInt(moved ?? 0);
    if (kind === null) sums.addRow(wallet, readTransaction(tx), { native: [] });
    else sums.addCredit({ wallet, kind: kindName(creditKinds, kind), amount: BigInt(amount ?? 0) });
  }
  return { ...(sums.of(wallet) ?? nothing), moved: all };
}

const less = (all: NativeChange, part: NativeChange): NativeChange => ({
  moved: all.moved - part.moved,
  fees: all.fees - part.fees,
  unknownFees: all.unknownFees - part.unknownFees,
  withdrawals: all.withdrawals - part.withdrawals,
  rewards: all.rewards - part.rewards,
});

/** The statement of the sums, without the code that runs it: tests ask for its plan. */
export function sumsQuery(chainId: string, wallet: string, asOf: bigint | undefined) {
  // One statement, so that sums, head and records are of the same moment.
  const later =
    asOf === undefined ? 'SELECT NULL::json AS tx WHERE false' : recordsQuery('block_number > :asOf');
  const sql = `SELECT s.head_number, s.head_hash, s.head_time, s.ledger_from, s.untraced_blocks, s.unrewarded_blocks, s.partial_fees,
      n.moved, n.fees, n.unknown_fees, n.withdrawals, n.rewards, r.records
    FROM (SELECT head_number, head_hash, head_time, ledger_from, untraced_blocks,
        unrewarded_blocks, partial_fees
      FROM index_state WHERE chain_id = :chainId AND ledger_from IS NOT NULL AND ledger_head = head_hash) s
    LEFT JOIN native_sums n ON n.chain_id = :chainId AND n.wallet = :wallet::bytea
    LEFT JOIN LATERAL (SELECT json_agg(l) AS records FROM (${later}) l) r ON true`;
  return {
    sql,
    bindings: {
      chainId,
      wallet: bytes(wallet),
      ...(asOf !== undefined && { account: wallet, asOf: String(asOf) }),
    },
  };
}

/**
 * Returns the sum of a wallet's native movements up to a block.
 * @param asOf undefined for the newest block of the index
 * @returns undefined where the index keeps no sums yet
 */
export async function findWalletSums(
  db: Database,
  { chainId, wallet }: { readonly chainId: string; readonly wallet: string },
  asOf: bigint | undefined,
): Promise<WalletSums | undefined> {
  const { sql, bindings } = sumsQuery(chainId, wallet, asOf);
  const { rows } = await db.raw<{ rows: Row[] }>(sql, bindings);
  const [row] = rows;
  if (row === undefined) return undefined;
  const state = toState(row);
  const later = row.records ?? [];
  if (!isTooMuch(later)) return { state, sums: less(toSums(row), sumsOf(later, wallet)) };
  // The block lies far back, so it is final by then.
  const earlier = await db.raw<{ rows: RecordRow[] }>(recordsQuery('block_number BETWEEN :from AND :asOf'), {
    ...bindings,
    asOf: String(asOf),
    from: String(state.from),
  });
  return { state, sums: isTooMuch(earlier.rows) ? undefined : sumsOf(earlier.rows, wallet) };
}

/** Returns the hash of an indexed block that may still be replaced; undefined for a final block. */
export async function findReplaceableHash(
  db: Database,
  chainId: string,
  block: bigint,
): Promise<string | undefined> {
  const { rows } = await db.raw<{ rows: { hash: string }[] }>(
    "SELECT '0x' || encode(hash, 'hex') AS hash FROM index_blocks WHERE chain_id = ? AND number = ?",
    [chainId, String(block)],
  );
  return rows[0]?.hash;
}

/** The first wallets of an index, in the order of their addresses. */
export async function listWallets(db: Database, chainId: string, limit: number): Promise<string[]> {
  const rows: { wallet: Buffer }[] = await db('native_sums')
    .where('chain_id', chainId)
    .orderBy('wallet')
    .limit(limit)
    .select('wallet');
  return rows.map(({ wallet }) => hex(wallet));
}

/** Returns some wallets of an index: for each of these addresses the next wallet. */
export async function pickWallets(
  db: Database,
  chainId: string,
  marks: readonly string[],
): Promise<string[]> {
  const found = new Set<string>();
  for (const mark of marks) {
    const rows: { wallet: Buffer }[] = await db('native_sums')
      .where('chain_id', chainId)
      .whereRaw('wallet >= ?::bytea', bytes(mark))
      .orderBy('wallet')
      .limit(1)
      .select('wallet');
    for (const { wallet } of rows) found.add(hex(wallet));
  }
  return [...found].sort();
}
