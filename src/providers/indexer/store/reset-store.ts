import type { Database } from '../../../contract/transaction.ts';
import { indexTables } from './distribute-store.ts';

// The state first: its lock keeps a running indexer from writing, and afterwards it finds that it must begin anew.
const tables = ['index_state', ...indexTables.filter((table) => table !== 'index_state')];

type ResetOptions = {
  readonly signal: AbortSignal;
  /** Tables done, of how many. */
  readonly onProgress: (done: number, total: number) => void;
};

/**
 * Deletes the index of a network, all or nothing, beside a running indexer too.
 * @returns how many transactions of wallets it had
 * @throws the reason of the signal; nothing is deleted then
 */
export function deleteIndex(
  { db }: { readonly db: Database },
  chainId: string,
  { signal, onProgress }: ResetOptions,
): Promise<number> {
  return db.transaction(async (tx) => {
    let rows = 0;
    for (const [done, table] of tables.entries()) {
      signal.throwIfAborted();
      onProgress(done, tables.length);
      const deleted = await tx(table).where('chain_id', chainId).delete();
      if (table === 'wallet_history') rows = deleted;
    }
    signal.throwIfAborted();
    onProgress(tables.length, tables.length);
    return rows;
  });
}
