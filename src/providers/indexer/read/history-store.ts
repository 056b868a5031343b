import type { Database } from '../../../contract/transaction.ts';
import type { Freshness } from '../../shared/provider.ts';
import { readMoves, readTransaction, type WalletTransaction } from '../classify/stored-moves.ts';
import type { BlockCredit } from '../decode/domain.ts';
import { hex } from '../store/rows/bulk-store.ts';
import { creditKinds, kindName } from '../store/rows/ledger-rows.ts';
import { blockAtQuery, type HistoryRequest, historyQuery } from './history-page-store.ts';

/** What a block credited to a wallet outside of transactions. */
export type WalletCreditRow = Pick<WalletTransaction, 'blockNumber' | 'index' | 'blockHash' | 'blockTime'> & {
  readonly kind: BlockCredit['kind'];
  readonly amount: bigint;
  readonly validatorIndex: string | null;
  readonly withdrawalIndex: string | null;
};

/** The head of the index, which each row of a page has. */
export type HeadRow = {
  readonly head_number: string | null;
  readonly head_hash: Buffer;
  readonly head_time: Date;
};

type Row = HeadRow & {
  readonly unsorted: boolean;
  readonly block_number: string | null;
  readonly tx_index: number;
  /** Null of a credit. */
  readonly tx_hash: Buffer | null;
  readonly block_hash: Buffer;
  readonly block_time: Date;
  readonly tx: unknown;
  readonly moves: unknown;
  readonly internal_calls: number | null;
  readonly verdicts: unknown;
  /** Null where there is no entry. */
  readonly fits: boolean | null;
};

export type HistoryRows = {
  /**
   * In the order of the page. There may be fewer than asked for, because a page has some megabytes at most, and at
   * least one.
   */
  readonly rows: readonly (WalletTransaction | WalletCreditRow)[];
  /** Whether there are more of the entries asked for. */
  readonly isCut: boolean;
  readonly completeTo: Freshness;
  /**
   * Whether rows of the wallet from before there was a search are not sorted yet, so that the search may have missed
   * some.
   */
  readonly isUnsorted: boolean;
};

function toEntry(row: Row, wallet: string): WalletTransaction | WalletCreditRow {
  if (row.tx_hash === null) return toCredit(row);
  return {
    wallet,
    blockNumber: BigInt(row.block_number ?? 0),
    index: row.tx_index,
    hash: hex(row.tx_hash),
    internalCalls: row.internal_calls,
    blockHash: hex(row.block_hash),
    blockTime: row.block_time,
    transaction: readTransaction(row.tx),
    moves: readMoves(row.moves, wallet, row.verdicts),
  };
}

function toCredit({ block_number, tx_index, block_hash, block_time, tx }: Row): WalletCreditRow {
  // Made by the query of the page.
  const [kind, amount, validatorIndex, withdrawalIndex] = tx as [
    number,
    string,
    string | null,
    string | null,
  ];
  return {
    blockNumber: BigInt(block_number ?? 0),
    index: tx_index,
    blockHash: hex(block_hash),
    blockTime: block_time,
    kind: kindName(creditKinds, kind),
    amount: BigInt(amount),
    validatorIndex,
    withdrawalIndex,
  };
}

/** A page of one wallet's history. @returns undefined when the network has no indexed block */
export async function listHistory(db: Database, request: HistoryRequest): Promise<HistoryRows | undefined> {
  const { sql, bindings } = historyQuery(request);
  const { rows } = await db.raw<{ rows: Row[] }>(sql, bindings);
  const completeTo = freshnessOf(rows[0]);
  if (completeTo === undefined) return undefined;
  const fitting = rows.filter(({ fits }) => fits === true);
  return {
    completeTo,
    isCut: rows.some(({ fits }) => fits === false),
    rows: fitting.map((row) => toEntry(row, request.wallet)),
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
  withCredits = false,
): Promise<bigint | undefined> {
  const { sql, bindings } = blockAtQuery(chainId, wallet, moment, withCredits);
  const { rows } = await db.raw<{ rows: [{ block: string | null }] }>(sql, bindings);
  return rows[0].block === null ? undefined : BigInt(rows[0].block);
}

/** Returns by how much times of blocks go back on a network, in milliseconds. */
export async function findTimeBackMs(db: Database, chainId: string): Promise<number> {
  const rows: { time_back: string }[] = await db('index_state')
    .where('chain_id', chainId)
    .select('time_back');
  return Number(rows[0]?.time_back ?? 0) * 1_000;
}

/** The head of the index, up to which an answer is complete, from any row that carries it. */
export function freshnessOf(row: HeadRow | undefined): Freshness | undefined {
  if (row === undefined || row.head_number === null) return undefined;
  return { blockNumber: BigInt(row.head_number), blockHash: hex(row.head_hash), blockTime: row.head_time };
}
