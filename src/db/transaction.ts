import type { Knex } from 'knex';
import type { ClientBase } from 'pg';
import type { Tx } from '../contract/transaction.ts';

/** Runs the work in one transaction: commits what it did when it resolves, nothing when it throws. */
export function inTransaction<T>(db: Knex, work: (tx: Tx) => Promise<T>): Promise<T> {
  return db.transaction(async (tx) => {
    const result = await work(tx);
    const connection: ClientBase = await tx.client.acquireConnection(); // of a transaction: always its own
    // PostgreSQL would answer COMMIT with ROLLBACK, and Knex takes that for done.
    if (connection.getTransactionStatus() === 'E')
      throw new Error('A statement of the transaction has failed.');
    return result;
  });
}

/** Calls once the transaction has committed; never when it did not. */
export function afterCommit(tx: Tx, call: () => void): void {
  tx.executionPromise.then(call, () => {});
}
