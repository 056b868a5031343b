import type { IndexedBlock } from '../domain.ts';
import { sortRow } from '../search/sort-row.ts';
import { type BulkColumns, bytes, copyLines, createLines, type Lines } from './bulk-store.ts';
import { type FacetKey, facetColumns } from './facet-store.ts';
import { createNativeSums, type NativeSums } from './ledger-rows.ts';
import { columnsOf, timeOf } from './row-columns.ts';
import { writeMoves, writeTransaction, writeVerdicts } from './stored-moves.ts';
import { walletMoves } from './wallet-moves.ts';

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

/** The tables of {@link WrittenBlock} with the columns of their lines, after the number of the network. */
export const historyTables = [
  { table: 'wallet_history', columns: Object.keys(historyTypes) },
  { table: 'history_facets', columns: Object.keys(facetColumns().columns) },
] as const;

/** Rows of `wallet_history` and of `history_facets` as columns. Pure. */
export function historyRows(block: IndexedBlock): {
  readonly wallet_history: BulkColumns;
  readonly history_facets: BulkColumns;
} {
  const history = columnsOf(historyTypes);
  const facets = facetColumns();
  addHistory({ history, facets, sums: createNativeSums() }, block);
  return { wallet_history: history.columns, history_facets: facets.columns };
}

/** A block with what most of its rows are. */
export type WrittenBlock = IndexedBlock & {
  /** The wallets of the block. */
  readonly wallets: ReadonlySet<string>;
  readonly sums: NativeSums;
  /** Rows as COPY takes them. */
  readonly lines: { readonly wallet_history: Lines; readonly history_facets: Lines };
};

/**
 * Writes the rows of a block that are many, as soon as it has been read: the next ones are on their way meanwhile, and
 * bytes are nothing that a garbage collector has to move. Pure.
 */
export function writeBlock(chainId: string, block: IndexedBlock): WrittenBlock {
  const history = copyLines(chainId, Object.values(historyTypes));
  const facets = facetLines(chainId);
  const sums = createNativeSums();
  const wallets = addHistory({ history, facets, sums }, block);
  const lines = { wallet_history: history.all(), history_facets: facets.all() };
  return { ...block, wallets, sums, lines };
}

/** As {@link copyLines} writes them: there are so many of them that the general way costs more. */
function facetLines(chainId: string) {
  const lines = createLines();
  return {
    add({ wallet, place: [block, index] }: FacetKey, facets: ReadonlyMap<string, number>) {
      const before = `${chainId}\t\\${wallet}\t\\`;
      const after = `\t${block}\t${index}\n`;
      for (const [facet, kind] of facets) lines.add(`${before}${facet}\t${kind}${after}`);
    },
    all: lines.all,
  };
}

type Collected = {
  readonly history: { add(...values: (string | null)[]): void };
  readonly facets: { add(key: FacetKey, facets: ReadonlyMap<string, number>): void };
  readonly sums: NativeSums;
};

/** @returns the wallets of the block */
function addHistory({ history, facets, sums }: Collected, block: IndexedBlock): ReadonlySet<string> {
  const { number, hash } = block.header;
  const blockNumber = String(number);
  const blockHash = bytes(hash);
  const time = timeOf(block);
  const wallets = new Set<string>();
  for (const transaction of block.transactions) {
    const index = String(transaction.index);
    const txHash = bytes(transaction.hash);
    const json = writeTransaction(transaction);
    const calls = transaction.internalCalls?.toString() ?? null;
    for (const [wallet, moves] of walletMoves(transaction)) {
      wallets.add(wallet);
      const moved = writeMoves(moves) ?? null;
      const owner = bytes(wallet);
      const { kind, facets: found } = sortRow({ wallet, transaction, moves });
      const values = [owner, blockNumber, index, txHash, blockHash, time, json, moved, String(kind), calls];
      history.add(...values, writeVerdicts(moves));
      sums.addRow(wallet, transaction, moves);
      facets.add({ wallet: owner, place: [blockNumber, index] }, found);
    }
  }
  for (const credit of block.credits) {
    wallets.add(credit.wallet);
    sums.addCredit(credit);
  }
  return wallets;
}
