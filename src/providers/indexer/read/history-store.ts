import type { Database } from '../../../contract/transaction.ts';
import type { Freshness } from '../../provider.ts';
import { bytes, hex } from '../store/bulk-store.ts';
import {
  readMoves,
  readTransaction,
  type StoredMoves,
  type StoredTransaction,
} from '../store/stored-moves.ts';

/** One transaction as a wallet sees it. */
export type WalletTransaction = {
  readonly wallet: string;
  readonly blockNumber: bigint;
  readonly index: number;
  readonly hash: string;
  readonly blockHash: string;
  readonly blockTime: Date;
  readonly transaction: StoredTransaction;
  readonly moves: StoredMoves;
};

/** A place in the chain's order of transactions. */
export type HistoryPlace = { readonly blockNumber: bigint; readonly index: number };

export type HistoryRequest = {
  readonly chainId: string;
  readonly wallet: string;
  readonly order: 'ASC' | 'DESC';
  readonly limit: number;
  /** Exclusive. */
  readonly after: HistoryPlace | undefined;
};

type Row = {
  readonly head_number: string | null;
  readonly head_hash: Buffer;
  readonly head_time: Date;
  readonly block_number: string | null;
  readonly tx_index: number;
  readonly tx_hash: Buffer;
  readonly block_hash: Buffer;
  readonly block_time: Date;
  readonly tx: unknown;
  readonly moves: unknown;
};

export type HistoryRows = { readonly rows: readonly WalletTransaction[]; readonly completeTo: Freshness };

function toTransaction(row: Row, wallet: string): WalletTransaction {
  return {
    wallet,
    blockNumber: BigInt(row.block_number ?? 0),
    index: row.tx_index,
    hash: hex(row.tx_hash),
    blockHash: hex(row.block_hash),
    blockTime: row.block_time,
    transaction: readTransaction(row.tx),
    moves: readMoves(row.moves, wallet),
  };
}

/** A page of one wallet's history. @returns undefined when the network has no indexed block */
export async function listHistory(db: Database, request: HistoryRequest): Promise<HistoryRows | undefined> {
  const { sql, bindings } = historyQuery(request);
  const { rows } = await db.raw<{ rows: Row[] }>(sql, bindings);
  const completeTo = freshnessOf(rows[0]);
  if (completeTo === undefined) return undefined;
  const found = rows.filter((row) => row.block_number !== null);
  return { completeTo, rows: found.map((row) => toTransaction(row, request.wallet)) };
}

const directions = {
  ASC: { comparison: '>', order: 'block_number, tx_index' },
  DESC: { comparison: '<', order: 'block_number DESC, tx_index DESC' },
} as const;

/** One statement, so that the rows and the head of the index are of the same moment. */
export function historyQuery({ chainId, wallet, order, limit, after }: HistoryRequest) {
  const direction = directions[order];
  const from = after === undefined ? '' : `AND (block_number, tx_index) ${direction.comparison} (?, ?)`;
  const sql = `SELECT s.head_number, s.head_hash, s.head_time, r.*
    FROM index_state s LEFT JOIN LATERAL (
      SELECT block_number, tx_index, tx_hash, block_hash, block_time, tx, moves FROM wallet_history
      WHERE chain_id = ? AND wallet = ?::bytea ${from}
      ORDER BY ${direction.order} LIMIT ?
    ) r ON true
    WHERE s.chain_id = ? ORDER BY ${direction.order}`;
  const place = after === undefined ? [] : [String(after.blockNumber), after.index];
  return { sql, bindings: [chainId, bytes(wallet), ...place, limit, chainId] };
}

/** The head of the index, up to which an answer is complete, from any row that carries it. */
export function freshnessOf(
  row: Pick<Row, 'head_number' | 'head_hash' | 'head_time'> | undefined,
): Freshness | undefined {
  if (row === undefined || row.head_number === null) return undefined;
  return { blockNumber: BigInt(row.head_number), blockHash: hex(row.head_hash), blockTime: row.head_time };
}
