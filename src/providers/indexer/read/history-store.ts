import type { Database } from '../../../contract/transaction.ts';
import type { Freshness } from '../../provider.ts';
import { hex } from '../store/bulk-store.ts';
import {
  readMoves,
  readTransaction,
  type StoredMoves,
  type StoredTransaction,
} from '../store/stored-moves.ts';
import { blockAtQuery, type HistoryRequest, historyQuery } from './history-page-store.ts';

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

type Row = {
  readonly head_number: string | null;
  readonly head_hash: Buffer;
  readonly head_time: Date;
  readonly unsorted: boolean;
  readonly block_number: string | null;
  readonly tx_index: number;
  readonly tx_hash: Buffer;
  readonly block_hash: Buffer;
  readonly block_time: Date;
  readonly tx: unknown;
  readonly moves: unknown;
};

export type HistoryRows = {
  readonly rows: readonly WalletTransaction[];
  readonly completeTo: Freshness;
  /** Rows of the wallet from before there was a search are not sorted yet, so the search may have missed some. */
  readonly isUnsorted: boolean;
};

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
  return {
    completeTo,
    rows: found.map((row) => toTransaction(row, request.wallet)),
    isUnsorted: rows[0]?.unsorted ?? false,
  };
}

/**
 * The first of the wallet's blocks at or after a moment, or any number above its last.
 * @returns undefined when the network has no index
 */
export async function findBlockAt(
  db: Database,
  { chainId, wallet }: { readonly chainId: string; readonly wallet: string },
  moment: Date,
): Promise<bigint | undefined> {
  const { sql, bindings } = blockAtQuery(chainId, wallet, moment);
  const { rows } = await db.raw<{ rows: [{ block: string | null }] }>(sql, bindings);
  return rows[0].block === null ? undefined : BigInt(rows[0].block);
}

/** The head of the index, up to which an answer is complete, from any row that carries it. */
export function freshnessOf(
  row: Pick<Row, 'head_number' | 'head_hash' | 'head_time'> | undefined,
): Freshness | undefined {
  if (row === undefined || row.head_number === null) return undefined;
  return { blockNumber: BigInt(row.head_number), blockHash: hex(row.head_hash), blockTime: row.head_time };
}
