import type { Knex } from 'knex';
import type { Client } from 'pg';
import type { Logger } from '../../base/log.ts';
import {
  currentScope,
  inBackground,
  type RequestScope,
  reasonOfEnd,
  throwIfEnded,
  watchEnd,
} from '../../base/request-scope.ts';
import { createSemaphore, type Release } from '../../base/semaphore.ts';

type SharedPoolOptions = {
  readonly poolMax: number;
  /** Time that a request waits for a connection, in milliseconds. */
  readonly waitMs: number;
  readonly log: Logger;
  /** Returns the server's process of a connection; undefined where it is not known. */
  readonly processOf: (connection: Client) => number | undefined;
  /** Waits until the server is done with the last statement of a connection. */
  readonly untilDone: (connection: Client) => Promise<void>;
};

type Loan = { readonly release: Release; readonly unwatch: () => void; cancelled?: Promise<void> };

/**
 * Shares the connections of a pool among the companies that requests work for, and begins nothing for a caller who has
 * gone. A statement that runs for such a caller is cancelled if it only reads. Work in the background takes no place; a
 * fifth of the pool is left to it.
 */
export function shareConnections(
  db: Knex,
  { poolMax, waitMs, log, processOf, untilDone }: SharedPoolOptions,
): void {
  const { client } = db;
  const places = Math.max(1, poolMax - Math.ceil(poolMax / 5));
  const semaphore = createSemaphore({ places, waitMs });
  const acquire: () => Promise<Client> = client.acquireConnection.bind(client);
  const giveBack: (connection: Client) => Promise<void> = client.releaseConnection.bind(client);
  const loans = new WeakMap<Client, Loan>();

  const cancel = (pid: number) =>
    inBackground(async () => {
      // Citus has another function of this name.
      // The connection waits for this before it is lent again.
      await db.raw('SELECT pg_cancel_backend(?::int)', [pid]).timeout(2_000);
    });

  /** Cancels what a connection does as soon as its caller has gone. */
  const watch = (connection: Client, scope: RequestScope): (() => void) => {
    const pid = processOf(connection);
    if (!scope.isRead || pid === undefined) return () => {};
    return watchEnd(scope, () => {
      const loan = loans.get(connection);
      if (loan === undefined) return;
      loan.cancelled = cancel(pid).catch((err: unknown) => log.warn({ err }, 'statement not cancelled'));
    });
  };

  const acquireShared = async (): Promise<Client> => {
    const scope = currentScope();
    if (scope !== undefined) throwIfEnded(scope);
    if (scope?.tenant === undefined) return acquire();
    const release = await semaphore.take(scope.tenant, scope);
    try {
      const connection = await acquire();
      // To open it takes time, in which the caller may have gone.
      const reason = reasonOfEnd(scope);
      if (reason !== undefined) {
        await giveBack(connection);
        throw reason;
      }
      loans.set(connection, { release, unwatch: watch(connection, scope) });
      return connection;
    } catch (error) {
      release();
      throw error;
    }
  };

  const releaseShared = async (connection: Client): Promise<void> => {
    const loan = loans.get(connection);
    loans.delete(connection);
    loan?.unwatch();
    // Else whoever had the connection next would be cancelled.
    await loan?.cancelled;
    await untilDone(connection);
    await giveBack(connection);
    loan?.release();
  };

  // Both are public in Knex's types. Its option `connectionPool` would leave it to us to open, check and close connections.
  Object.assign(client, { acquireConnection: acquireShared, releaseConnection: releaseShared });
}
