import type { Database, Tx } from '../contract/transaction.ts';

/** Runs the work in one transaction, which commits when the work resolves and rolls back when it rejects. */
export function inTransaction<T>(db: Database, work: (tx: Tx) => Promise<T>): Promise<T> {
  return db.transaction(work);
}
