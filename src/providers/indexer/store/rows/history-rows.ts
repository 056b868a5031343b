import { sortRow } from '../../classify/sort-row.ts';
import { writeMoves, writeTransaction, writeVerdicts } from '../../classify/stored-moves.ts';
import type { IndexedBlock } from '../../decode/domain.ts';
import { atOnce, type Steps } from '../../decode/turns.ts';
import { type BulkColumns, bytes } from './bulk-store.ts';
import { facetColumns } from './facet-store.ts';
import { createNativeSums, type NativeSums } from './ledger-rows.ts';
import { columnsOf, timeOf } from './row-columns.ts';
import { walletMoves } from './wallet-moves.ts';
import {
  type HistoryRow,
  writtenFacetRows,
  writtenFacets,
  writtenHistory,
  writtenHistoryRows,
} from './written-rows.ts';

const historyTypes = {
  wallet: 'bytea',
  block_number: 'bigint',
  tx_index: 'integer',
  tx_hash: 'bytea',
  block_hash: 'bytea',
  block_time: 'timestamptz',
  tx: 'json',
  moves: 'json',
  kind: 'smallint',
  internal_calls: 'integer',
  verdicts: 'json',
};

/** The tables of {@link WrittenBlock} with the columns of their rows, after the number of the network. */
export const historyTables = [
  { table: 'wallet_history', columns: writtenHistory },
  { table: 'history_facets', columns: writtenFacets },
] as const;

/** Rows of `wallet_history` and of `history_facets` as columns. Pure. */
export function historyRows(block: IndexedBlock): {
  readonly wallet_history: BulkColumns;
  readonly history_facets: BulkColumns;
} {
  const history = columnsOf(historyTypes);
  const facets = facetColumns();
  const number = String(block.header.number);
  const place = [bytes(block.header.hash), timeOf(block)] as const;
  const rows = forEachRow(block, ({ transaction, wallet, moves, kind }, found) => {
    const index = String(transaction.index);
    const json = writeTransaction(transaction);
    const own = [bytes(wallet), number, index, bytes(transaction.hash), ...place, json];
    const calls = transaction.internalCalls?.toString() ?? null;
    history.add(...own, writeMoves(moves) ?? null, String(kind), calls, writeVerdicts(moves));
    facets.add({ wallet: bytes(wallet), place: [number, index] }, found);
  });
  atOnce(rows);
  return { wallet_history: history.columns, history_facets: facets.columns };
}

/** A block with what most of its rows are. */
export type WrittenBlock = IndexedBlock & {
  /** The wallets of the block. */
  readonly wallets: ReadonlySet<string>;
  readonly sums: NativeSums;
  /** Rows as COPY takes them. */
  readonly rows: { readonly wallet_history: Buffer; readonly history_facets: Buffer };
};

/**
 * Writes the many rows of a block as soon as it has been read, one transaction at a time. The next blocks arrive
 * meanwhile, and the garbage collector does not move bytes. Pure.
 */
export function* writeSteps(chainId: string, block: IndexedBlock): Steps<WrittenBlock> {
  const history = writtenHistoryRows(chainId, block.header);
  const facets = writtenFacetRows(chainId, block.header);
  const sums = createNativeSums();
  const wallets = new Set<string>();
  yield* forEachRow(block, (row, found) => {
    const { transaction, wallet, moves } = row;
    wallets.add(wallet);
    history.add(row);
    facets.add(wallet, transaction.index, found);
    sums.addRow(wallet, transaction, moves);
  });
  for (const credit of block.credits) {
    wallets.add(credit.wallet);
    sums.addCredit(credit);
  }
  const rows = { wallet_history: history.bytes(), history_facets: facets.bytes() };
  return { ...block, wallets, sums, rows };
}

/** Writes the rows of a block at once, as {@link writeSteps} says. */
export const writeBlock = (chainId: string, block: IndexedBlock): WrittenBlock =>
  atOnce(writeSteps(chainId, block));

function* forEachRow(
  { transactions }: IndexedBlock,
  add: (row: HistoryRow, facets: ReadonlyMap<string, number>) => void,
): Steps<void> {
  for (const transaction of transactions) {
    yield;
    for (const [wallet, moves] of walletMoves(transaction)) {
      const { kind, facets } = sortRow({ wallet, transaction, moves });
      add({ transaction, wallet, moves, kind }, facets);
    }
  }
}
