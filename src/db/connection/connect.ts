import { hostname } from 'node:os';
import knexPackage, { type Knex } from 'knex';
import type { Client } from 'pg';
import type { Logger } from '../../base/log.ts';
import { currentScope, inBackground, watchEnd } from '../../base/request-scope.ts';
import type { Database } from '../../contract/transaction.ts';
import { createConnectionWatch } from './connection-watch.ts';
import { createOutageLog, type OutageLog } from './outage-log.ts';
import type { Reach } from './reach.ts';
import { beginSession, type SessionLimits, serviceLimits } from './session-limits.ts';
import { hookStatements } from './statement-hook.ts';
import { beginStatementSpan } from './statement-span.ts';

// knex is CommonJS: the factory is a property of the default export under Node's ESM loader.
const { knex } = knexPackage;

export type DatabaseOptions = {
  readonly poolMax: number;
  readonly log: Logger;
  /** The limits of the service by default. */
  readonly limits?: SessionLimits;
  /**
   * Given where the URL leads to a pooler in transaction mode, which lends a session of the server to one transaction
   * after another: leads to the server without it.
   */
  readonly sessionUrl?: string;
};

/**
 * Creates a pool of at most `poolMax` connections. A caller waits up to 5 s for a connection, a statement up to 2 s for
 * a lock, and runs up to 30 s, so an overloaded database leads to errors instead of an unbounded queue. On a connection
 * that the network has silently lost a statement rejects after 35 s, and new connections replace all older connections.
 * The server ends a transaction that its process has left open within 7 s.
 */
export function createDatabase(
  url: string,
  { poolMax, log, limits = serviceLimits, sessionUrl }: DatabaseOptions,
): Database {
  // Knex's types lack `pipeline`, which is the driver's own.
  const connection: Knex.PgConnectionConfig & { pipeline: boolean } = {
    connectionString: url,
    connectionTimeoutMillis: 5_000,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    // Statements of one transaction that are sent together do not wait for each other's results.
    pipeline: true,
  };
  const reach: Reach = {
    transactionLimits: sessionUrl === undefined ? undefined : limits,
    namesStatements: sessionUrl === undefined,
  };
  const outages = createOutageLog(log);
  const cancel = (pid: number) =>
    // Citus has another function of this name.
    db
      .raw('SELECT pg_cancel_backend(?::int)', [pid])
      .catch((err: unknown) => log.warn({ err }, 'statement not cancelled'));
  // Knex's types lack `userParams` too.
  const config: Knex.Config & { userParams: Reach } = {
    client: 'pg',
    // Otherwise error messages contain the bound values: hashes, ciphertexts, input of callers.
    compileSqlOnError: false,
    connection,
    userParams: reach,
    // Knex would print these to standard output; it warns of nothing but connections.
    log: {
      warn: outages.failed,
      error: (message) => log.error({ source: 'knex' }, String(message)),
      deprecate: (message) => log.debug({ source: 'knex' }, String(message)),
      debug: (message) => log.debug({ source: 'knex' }, String(message)),
    },
    pool: { min: 0, max: poolMax, ...watchedPool({ outages, limits, sessionUrl, cancel }) },
  };
  const db: Database = knex(config);
  return db;
}

type Done = (error: Error | null, connection: Client) => void;

type WatchOptions = {
  readonly outages: OutageLog;
  readonly limits: SessionLimits;
  readonly sessionUrl: string | undefined;
  /** Cancels what a process of the server does. */
  readonly cancel: (pid: number) => unknown;
};

function watchedPool({ outages, limits, sessionUrl, cancel }: WatchOptions) {
  const watch = createConnectionWatch();
  // By then the server has ended the statement, or the connection is lost.
  const silentMs = limits.statementMs === 0 ? 0 : limits.statementMs + 5_000;
  const name = `tallystick ${hostname().slice(0, 40)}:${process.pid}`;
  const { text, values } = beginSession(name, sessionUrl === undefined ? limits : undefined);
  return {
    acquireTimeoutMillis: 5_000,
    createTimeoutMillis: 10_000,
    // A server that the network has lost never closes its side.
    destroyTimeoutMillis: 1_000,
    afterCreate(connection: Client, done: Done) {
      // A checked-out client without an error listener ends the process when the server restarts.
      connection.on('error', outages.failed);
      const { begin, retire } = watch.add(connection, silentMs);
      let pid: number | undefined;
      const cancelAndRetire = () => {
        if (pid === undefined) return;
        retire();
        cancel(pid);
      };
      hookStatements(connection, (statement) => {
        const end = begin();
        const unwatch = cancelWithCaller(cancelAndRetire);
        const span = statement === undefined ? undefined : beginStatementSpan(statement);
        return (error) => {
          unwatch?.();
          end(error);
          span?.end(error);
        };
      });
      connection.query<{ pid: number }>(text, [...values], (error: Error | null, result) => {
        if (!error) outages.opened();
        // A pooler lends the session to others.
        pid = sessionUrl === undefined ? result?.rows[0]?.pid : undefined;
        done(error, connection);
      });
    },
    validate: watch.isSound,
  };
}

/**
 * Calls `cancel` when the caller of the present work goes before its statement ends. A change that has begun is finished.
 * @returns what is to be called at the end of the statement; undefined where nobody can go
 */
function cancelWithCaller(cancel: () => void): (() => void) | undefined {
  const scope = currentScope();
  return scope?.isRead === true ? watchEnd(scope, () => inBackground(cancel)) : undefined;
}
