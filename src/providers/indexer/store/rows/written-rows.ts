import {
  type StoredMoves,
  writeMoves,
  writeTransaction,
  writeVerdicts,
} from '../../classify/stored-moves.ts';
import type { BlockHeader, IndexedTransaction } from '../../decode/domain.ts';
import { createBinaryRows } from './binary-rows.ts';

/** The part of a transaction that belongs to one wallet. */
export type HistoryRow = {
  readonly transaction: IndexedTransaction;
  readonly wallet: string;
  readonly moves: StoredMoves;
  readonly kind: number;
};

/** Begins with what all rows of a transaction have in common, which is written once. */
export const writtenHistory = [
  ...['block_number', 'tx_index', 'tx_hash', 'block_hash', 'block_time', 'tx', 'internal_calls'],
  ...['wallet', 'moves', 'kind', 'verdicts'],
];

/** Begins with what all facets of a row have in common. */
export const writtenFacets = ['wallet', 'block_number', 'tx_index', 'facet', 'kind'];

type Shared = {
  readonly transaction: IndexedTransaction | undefined;
  /** The place of what its rows have in common. */
  readonly from: number;
  readonly to: number;
};

// PostgreSQL counts microseconds since 2000.
const epoch = 946_684_800n;

/** Writes rows of `wallet_history` as COPY takes them. */
export function writtenHistoryRows(chainId: string, { number, hash, timestamp }: BlockHeader) {
  const rows = createBinaryRows();
  const chain = BigInt(chainId);
  const time = (timestamp - epoch) * 1_000_000n;
  const writeShared = (transaction: IndexedTransaction) => {
    rows.begin(writtenHistory.length + 1);
    rows.bigint(chain);
    rows.bigint(number);
    rows.integer(transaction.index);
    rows.bytea(transaction.hash);
    rows.bytea(hash);
    rows.bigint(time);
    rows.ascii(writeTransaction(transaction));
    if (transaction.internalCalls === null) rows.nothing();
    else rows.integer(transaction.internalCalls);
  };
  let shared: Shared = { transaction: undefined, from: 0, to: 0 };
  return {
    /** Rows of one transaction come one after the other. */
    add({ transaction, wallet, moves, kind }: HistoryRow) {
      if (shared.transaction === transaction) rows.repeat(shared.from, shared.to);
      else {
        const from = rows.place();
        writeShared(transaction);
        shared = { transaction, from, to: rows.place() };
      }
      rows.bytea(wallet);
      writeText(rows, writeMoves(moves));
      rows.smallint(kind);
      writeText(rows, writeVerdicts(moves));
    },
    bytes: rows.bytes,
  };
}

function writeText(rows: ReturnType<typeof createBinaryRows>, text: string | null | undefined): void {
  if (text === null || text === undefined) rows.nothing();
  else rows.ascii(text);
}

/** Writes rows of `history_facets` as COPY takes them. */
export function writtenFacetRows(chainId: string, { number }: BlockHeader) {
  const rows = createBinaryRows();
  const chain = BigInt(chainId);
  return {
    add(wallet: string, index: number, facets: ReadonlyMap<string, number>) {
      const from = rows.place();
      let to = 0;
      for (const [facet, kind] of facets) {
        if (to > 0) rows.repeat(from, to);
        else {
          rows.begin(writtenFacets.length + 1);
          rows.bigint(chain);
          rows.bytea(wallet);
          rows.bigint(number);
          rows.integer(index);
          to = rows.place();
        }
        rows.bytea(facet);
        rows.smallint(kind);
      }
    },
    bytes: rows.bytes,
  };
}
