import type { Database, Tx } from '../../../../contract/transaction.ts';
import { inTransaction } from '../../../../db/connection/transaction.ts';
import { byWallet, indexTables } from './distribute-store.ts';

// The state goes first. Its row lock keeps a running indexer from writing; afterwards the indexer must start from the
// beginning.
const tables = ['index_state', 'index_errors', ...indexTables.filter((table) => table !== 'index_state')];

/**
 * Tables that grow with the chain, and the column by whose ranges their rows are found: the next column of the
 * primary key.
 */
const rangedBy = new Map<string, 'wallet' | 'contract'>([
  ...byWallet.map((table) => [table, 'wallet'] as const),
  ['token_contracts', 'contract'],
  ['nft_tokens', 'contract'],
]);
// A statement for billions of rows would take longer than it may.
const ranges = 16;

type Part = { readonly table: string; readonly from?: Buffer; readonly to?: Buffer };

const parts = tables.flatMap((table): Part[] => {
  if (!rangedBy.has(table)) return [{ table }];
  const bound = (index: number) => Buffer.of((index * 256) / ranges);
  return Array.from({ length: ranges }, (_, index) => ({
    table,
    from: bound(index),
    ...(index + 1 < ranges && { to: bound(index + 1) }),
  }));
});

type ResetOptions = {
  readonly signal: AbortSignal;
  /** Called with the number of parts of tables that are done, and of all. */
  readonly onProgress: (done: number, total: number) => void;
};

/**
 * Deletes the index of a network in one transaction, also while an indexer runs.
 * @returns how many rows of wallet histories it had
 * @throws the reason of the signal; then nothing is deleted
 */
export function deleteIndex(
  db: Database,
  chainId: string,
  { signal, onProgress }: ResetOptions,
): Promise<number> {
  return inTransaction(db, async (tx) => {
    let rows = 0;
    for (const [done, part] of parts.entries()) {
      signal.throwIfAborted();
      onProgress(done, parts.length);
      const deleted = await deletePart(tx, chainId, part);
      if (part.table === 'wallet_history') rows += deleted;
    }
    signal.throwIfAborted();
    onProgress(parts.length, parts.length);
    return rows;
  });
}

async function deletePart(tx: Tx, chainId: string, { table, from, to }: Part): Promise<number> {
  const rows = tx(table).where('chain_id', chainId);
  const column = rangedBy.get(table);
  if (column !== undefined && from !== undefined) void rows.where(column, '>=', from);
  if (column !== undefined && to !== undefined) void rows.where(column, '<', to);
  return rows.delete();
}
