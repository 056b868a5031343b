import { sortRow } from '../../classify/sort-row.ts';
import { writeMoves, writeTransaction, writeVerdicts } from '../../classify/stored-moves.ts';
import type { IndexedBlock } from '../../decode/domain.ts';
import type { Steps } from '../../decode/turns.ts';
import { bytes, lineOf, timeOf } from './bulk-store.ts';
import { createNativeSums, type NativeSums } from './ledger-rows.ts';
import { walletMoves } from './wallet-moves.ts';

/** The tables with most rows, and the columns of their lines. What rows of a transaction have in common comes first. */
export const historyTables = {
  wallet_history: [
    ...(['block_number', 'tx_index', 'tx_hash', 'block_hash', 'block_time', 'tx', 'internal_calls'] as const),
    ...(['wallet', 'moves', 'kind', 'verdicts'] as const),
  ],
  history_facets: ['wallet', 'block_number', 'tx_index', 'facet', 'kind'],
} as const;

export type HistoryTable = keyof typeof historyTables;

/** A block with what most of its rows are. */
export type WrittenBlock = IndexedBlock & {
  /** The wallets of the block. */
  readonly wallets: ReadonlySet<string>;
  readonly sums: NativeSums;
  /** Rows as the lines that COPY takes. */
  readonly lines: Readonly<Record<HistoryTable, string>>;
};

/**
 * Writes the many rows of a block as soon as it has been read, one transaction at a time. The next blocks arrive
 * meanwhile. Pure.
 */
export function* writeSteps(chainId: string, block: IndexedBlock): Steps<WrittenBlock> {
  const sums = createNativeSums();
  const wallets = new Set<string>();
  const lines = { wallet_history: '', history_facets: '' };
  const number = String(block.header.number);
  const time = timeOf(block.header);
  for (const transaction of block.transactions) {
    yield;
    const { index, internalCalls } = transaction;
    const place = [number, String(index), escaped(transaction.hash), escaped(block.header.hash), time];
    const calls = internalCalls?.toString() ?? null;
    const shared = lineOf([chainId, ...place, writeTransaction(transaction), calls]);
    for (const [wallet, moves] of walletMoves(transaction)) {
      const { kind, facets } = sortRow({ wallet, transaction, moves });
      const own = lineOf([escaped(wallet), writeMoves(moves) ?? null, String(kind), writeVerdicts(moves)]);
      lines.wallet_history += `${shared}\t${own}\n`;
      const start = lineOf([chainId, escaped(wallet), number, String(index)]);
      for (const [facet, of] of facets) lines.history_facets += `${start}\t\\${facet}\t${of}\n`;
      wallets.add(wallet);
      sums.addRow(wallet, transaction, moves);
    }
  }
  for (const credit of block.credits) {
    wallets.add(credit.wallet);
    sums.addCredit(credit);
  }
  return { ...block, wallets, sums, lines };
}

/** Hex as a value of a line. */
const escaped = (hex: string) => `\\${bytes(hex)}`;
