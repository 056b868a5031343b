import { AsyncLocalStorage } from 'node:async_hooks';

/*
 * Whether a transaction is open in the work that runs now. A transaction keeps a connection and its locks. So nothing
 * outside of the process and its database may be asked before it ends: a silent node would keep all connections.
 */
const open = new AsyncLocalStorage<boolean>();

/** Runs the work of a transaction. */
export function withOpenTransaction<T>(work: () => T): T {
  return open.run(true, work);
}

/** Runs work that no transaction waits for. */
export function withoutTransaction<T>(work: () => T): T {
  return open.run(false, work);
}

/** @param whom such as `node 1 https://rpc.example`. @throws Error while a transaction is open */
export function assertNoTransaction(whom: string): void {
  if (open.getStore() === true)
    throw new Error(`${whom} is asked inside a transaction: ask before it begins, or after its end`);
}
