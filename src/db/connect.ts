import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import knexPackage, { type Knex } from 'knex';
import type { Database } from '../contract/transaction.ts';
import type { Logger } from '../log.ts';
import { shareFairly } from './fair-pool.ts';
import { createOutageLog, type OutageLog } from './outage-log.ts';
import { createProbe } from './probe.ts';
import type { Reach } from './reach.ts';
import { createReadOnlyWatch } from './read-only-watch.ts';
import { beginSession, type SessionLimits, serviceLimits } from './session-limits.ts';
import { createSilenceWatch, type WatchedClient } from './silence-watch.ts';
import { traceStatements } from './traced-statements.ts';

// knex is CommonJS: the factory is a property of the default export under Node's ESM loader.
const { knex } = knexPackage;

export type DatabaseOptions = {
  readonly poolMax: number;
  readonly log: Logger;
  /** Those of the service by default. */
  readonly limits?: SessionLimits;
  /**
   * Given where the URL leads to a pooler in transaction mode, which lends a session of the server to one transaction
   * after another: leads to the server without it.
   */
  readonly sessionUrl?: string;
  /** Whether statements are kept under names; by default where there is no such pooler. */
  readonly namesStatements?: boolean;
  /** Whether the URL leads to a replica. */
  readonly isReplica?: boolean;
  /** How long requests of a tenant may wait for a connection before its further ones are refused. 300 ms by default. */
  readonly overdueMs?: number | undefined;
};

/**
 * Creates a pool of at most `poolMax` connections. A caller waits up to 5 s for a connection, a statement up to 2 s for
 * a lock, and runs up to 30 s, so an overloaded database leads to errors instead of an unbounded queue. A connection
 * that the network has silently lost is noticed within 10 s: its statements reject, and new connections take its place.
 * The server ends a transaction that its process has left open within 7 s. A connection whose server has refused a write
 * for being read-only is not used again.
 */
export function createDatabase(
  url: string,
  {
    poolMax,
    log,
    limits = serviceLimits,
    sessionUrl,
    namesStatements,
    isReplica = false,
    overdueMs = 300,
  }: DatabaseOptions,
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
    namesStatements: namesStatements ?? sessionUrl === undefined,
    isReplica,
  };
  const outages = createOutageLog(log);
  const watched = watchedPool({ url, log, outages, limits, sessionUrl });
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
    pool: { min: 0, max: poolMax, ...watched },
  };
  const db: Database = knex(config);
  // A pooler names its own processes, not those of the server.
  shareFairly(db, {
    ...{ poolMax, overdueMs, log },
    cancels: sessionUrl === undefined,
    isSound: watched.validate,
  });
  return db;
}

type Done = (error: Error | null, connection: WatchedClient) => void;

/** Bounds the goodbye: a server that the network has lost never closes its side. */
function endInTime(connection: WatchedClient): void {
  const { stream } = connection.connection;
  const end: (done: () => void) => void = connection.end.bind(connection);
  Object.assign(connection, {
    end(done: () => void) {
      const late = setTimeout(() => stream.destroy(), 1_000);
      stream.once('close', () => clearTimeout(late));
      end(done);
    },
  });
}

// A statement that the server should have ended long ago.
const deadlineMs = (limits: SessionLimits) =>
  limits.statementMs === 0 ? Number.POSITIVE_INFINITY : limits.statementMs + 5_000;

type WatchOptions = Pick<DatabaseOptions, 'log'> & {
  readonly url: string;
  readonly outages: OutageLog;
  readonly limits: SessionLimits;
  readonly sessionUrl: string | undefined;
};

function watchedPool({ url, log, outages, limits, sessionUrl }: WatchOptions) {
  const silence = createSilenceWatch({
    probe: createProbe(sessionUrl ?? url),
    log,
    limits: { deadlineMs: deadlineMs(limits) },
  });
  const poolName = `tallystick ${hostname().slice(0, 16)}:${process.pid} ${randomUUID().slice(0, 8)}`;
  const readOnly = createReadOnlyWatch();
  let opened = 0;
  return {
    acquireTimeoutMillis: 5_000,
    createTimeoutMillis: 10_000,
    afterCreate(connection: WatchedClient, done: Done) {
      // A checked-out client without an error listener ends the process when the server restarts.
      connection.on('error', outages.failed);
      endInTime(connection);
      opened += 1;
      const name = `${poolName}/${opened}`;
      silence.add(connection, name);
      readOnly.add(connection);
      traceStatements(connection);
      const { text, values } = beginSession(name, sessionUrl === undefined ? limits : undefined);
      connection.query(text, values, (error: Error | null) => {
        if (!error) outages.opened();
        done(error, connection);
      });
    },
    validate: (connection: WatchedClient) => silence.isTrusted(connection) && readOnly.isWritable(connection),
  };
}
