import type { Knex } from 'knex';
import type { Client } from 'pg';
import type { Logger } from '../log.ts';
import { currentScope, type RequestScope, throwIfEnded, watchEnd } from '../request-scope.ts';
import { createTurns, type EndTurn } from './turns.ts';

type FairOptions = {
  readonly poolMax: number;
  /** How long requests of a tenant may wait in its line before further ones are refused, in milliseconds. */
  readonly overdueMs: number;
  readonly log: Logger;
  /** Whether connections lead to the processes of the server that they name, so that statements can be cancelled. */
  readonly cancels: boolean;
};

type Connection = Client & { readonly processID?: number; readonly readyForQuery?: boolean };
type Lent = {
  readonly endTurn: EndTurn;
  cancelled: Promise<void> | undefined;
  unwatch: (() => void) | undefined;
};

/**
 * Shares the connections of a pool among the tenants that requests work for, and begins nothing for a caller who has
 * gone. A statement that runs for such a caller is cancelled if it only reads. Work in the background takes no turns; a
 * fifth of the pool is left to it.
 */
export function shareFairly(db: Knex, { poolMax, overdueMs, log, cancels }: FairOptions): void {
  const { client } = db;
  const turns = createTurns({ places: Math.max(1, poolMax - Math.ceil(poolMax / 5)), overdueMs });
  const acquire: () => Promise<Connection> = client.acquireConnection.bind(client);
  const releaseNow: (connection: Connection) => Promise<void> = client.releaseConnection.bind(client);
  const release = (connection: Connection): Promise<void> =>
    connection.readyForQuery === false
      ? untilReady(connection).then(() => releaseNow(connection))
      : releaseNow(connection);
  const lent = new WeakMap<Connection, Lent>();

  const cancel = async ({ processID }: Connection) => {
    const other = await acquire();
    try {
      // Citus has another function of this name.
      await other.query('SELECT pg_cancel_backend($1::int)', [processID]);
    } finally {
      await release(other);
    }
  };

  const lend = (connection: Connection, scope: RequestScope, endTurn: EndTurn) => {
    const loan: Lent = { endTurn, cancelled: undefined, unwatch: undefined };
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
    const turn = turns.take(scope.tenant, scope.hasBegun !== true, scope);
    const endTurn = turn instanceof Promise ? await turn : turn;
    scope.hasBegun = true;
    try {
      const connection = await acquire();
      lend(connection, scope, endTurn);
      return connection;
    } catch (error) {
      endTurn();
      throw error;
    }
  };

  const releaseAfterTurn = (connection: Connection): Promise<void> => {
    const loan = lent.get(connection);
    if (loan === undefined) return release(connection);
    lent.delete(connection);
    loan.unwatch?.();
    const giveBack = () => release(connection).finally(loan.endTurn);
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
