import type { Knex } from 'knex';
import type { Client as WatchedClient } from 'pg';
import type { Logger } from '../log.ts';
import { currentScope, type RequestScope, reasonOfEnd, throwIfEnded, watchEnd } from '../request-scope.ts';
import { createTurns, type Turn } from './turns.ts';

type FairOptions = {
  readonly poolMax: number;
  /** How long requests of a tenant may wait in its line before further ones are refused, in milliseconds. */
  readonly overdueMs: number;
  readonly log: Logger;
  /** Whether connections lead to the processes of the server that they name, so that statements can be cancelled. */
  readonly cancels: boolean;
  /** Whether nothing is known against a connection. */
  readonly isSound: (connection: WatchedClient) => boolean;
};

type Connection = WatchedClient & {
  readonly processID?: number;
  readonly readyForQuery?: boolean;
  readonly __knex__disposed?: unknown;
};
type Lent = {
  readonly turn: Turn<Connection>;
  cancelled: Promise<void> | undefined;
  unwatch: (() => void) | undefined;
};

/**
 * Shares the connections of a pool among the tenants that requests work for, and begins nothing for a caller who has
 * gone. A statement that runs for such a caller is cancelled if it only reads. Work in the background takes no turns; a
 * fifth of the pool is left to it.
 */
export function shareFairly(db: Knex, { poolMax, overdueMs, log, cancels, isSound }: FairOptions): void {
  const { client } = db;
  const places = Math.max(1, poolMax - Math.ceil(poolMax / 5));
  const turns = createTurns<Connection>({ places, overdueMs });
  const acquire: () => Promise<Connection> = client.acquireConnection.bind(client);
  const releaseNow: (connection: Connection) => Promise<void> = client.releaseConnection.bind(client);
  const release = (connection: Connection): Promise<void> =>
    connection.readyForQuery === false
      ? untilReady(connection).then(() => releaseNow(connection))
      : releaseNow(connection);
  const lent = new WeakMap<Connection, Lent>();
  // Past the pool, which takes as long for it as the driver for a short statement; who takes no turns waits there.
  const mayBeHandedOn = (connection: Connection) =>
    connection.readyForQuery !== false &&
    connection.__knex__disposed === undefined &&
    client.pool.numPendingAcquires() === 0 &&
    isSound(connection);

  const cancel = async ({ processID }: Connection) => {
    const other = await acquire();
    try {
      // Citus has another function of this name.
      await other.query('SELECT pg_cancel_backend($1::int)', [processID]);
    } finally {
      await release(other);
    }
  };

  const lend = (connection: Connection, scope: RequestScope, turn: Turn<Connection>) => {
    const loan: Lent = { turn, cancelled: undefined, unwatch: undefined };
    lent.set(connection, loan);
    if (!scope.isRead || !cancels) return;
    loan.unwatch = watchEnd(scope, () => {
      loan.cancelled = cancel(connection).catch((err) => log.warn({ err }, 'statement not cancelled'));
    });
  };

  const acquireInTurn = async (): Promise<Connection> => {
    const scope = currentScope();
    if (scope !== undefined) throwIfEnded(scope);
    if (scope?.tenant === undefined) return acquire();
    const taken = turns.take(scope.tenant, scope.hasBegun !== true, scope);
    const turn = taken instanceof Promise ? await taken : taken;
    scope.hasBegun = true;
    try {
      const connection = turn.handed ?? (await acquire());
      // To open it takes time, in which the caller may have gone.
      const reason = reasonOfEnd(scope);
      if (reason !== undefined) {
        await release(connection);
        throw reason;
      }
      lend(connection, scope, turn);
      return connection;
    } catch (error) {
      turn.end();
      throw error;
    }
  };

  const releaseAfterTurn = (connection: Connection): Promise<void> => {
    const loan = lent.get(connection);
    if (loan === undefined) return release(connection);
    lent.delete(connection);
    loan.unwatch?.();
    const giveBack = async () => {
      if (mayBeHandedOn(connection) && loan.turn.end(connection)) return;
      await release(connection).finally(() => loan.turn.end());
    };
    // Whoever had the connection next would be cancelled.
    return loan.cancelled === undefined ? giveBack() : loan.cancelled.then(giveBack);
  };

  Object.assign(client, { acquireConnection: acquireInTurn, releaseConnection: releaseAfterTurn });
}

// An error comes before the server is ready for more, mostly by some microseconds.
const readyMs = 250;

/** Waits until the server is done with what failed. What then is not ready is not lent again. */
function untilReady(connection: Connection): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, readyMs);
  connection.once('drain', resolve);
  return promise.finally(() => {
    clearTimeout(timer);
    connection.off('drain', resolve);
  });
}
