import type { Knex } from 'knex';
import type { Tx } from '../contract/transaction.ts';

/** Runs the work in one transaction: commits what it did when it resolves, nothing when it throws. */
export function inTransaction<T>(db: Knex, work: (tx: Tx) => Promise<T>): Promise<T> {
  return db.transaction(work);
}
