import type { Database } from '../../../contract/transaction.ts';
import { inTransaction } from '../../../db/transaction.ts';
import { indexTables } from './distribute-store.ts';

// The state first: its row lock keeps a running indexer from writing; afterwards the indexer finds that it must start
// from the beginning.
const tables = ['index_state', ...indexTables.filter((table) => table !== 'index_state')];

type ResetOptions = {
  readonly signal: AbortSignal;
  /** Called with the number of tables that are done, and of all tables. */
  readonly onProgress: (done: number, total: number) => void;
};

/**
 * Deletes the index of a network in one transaction; an indexer may be running.
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
