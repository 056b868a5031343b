import { withOpenTransaction } from '../../base/open-transaction.ts';
import { currentScope, throwIfEnded } from '../../base/request-scope.ts';
import type { Database, Tx } from '../../contract/transaction.ts';
import { reachOf } from './reach.ts';
import { limitTransaction } from './session-limits.ts';

/**
 * Runs the work in one transaction, which commits when the work resolves and rolls back when it rejects. It begins none for
 * a caller who has gone. The work asks nothing outside of the database: whatever does inside it throws.
 */
export async function inTransaction<T>(db: Database, work: (tx: Tx) => Promise<T>): Promise<T> {
  const { transactionLimits: limits } = reachOf(db);
  const scope = currentScope();
  await scope?.onBack?.();
  return db.transaction(async (tx) => {
    if (scope !== undefined) throwIfEnded(scope);
    if (limits !== undefined) await limitTransaction(tx, limits);
    return withOpenTransaction(() => work(tx));
  });
}

/** Runs work that is a single statement, which is a transaction by itself; where limits are set for each, in one. */
export function byStatement<T>(db: Database, work: (db: Database) => Promise<T>): Promise<T> {
  return reachOf(db).transactionLimits === undefined ? work(db) : inTransaction(db, work);
}
