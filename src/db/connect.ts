import knexPackage, { type Knex } from 'knex';
import type { Database } from '../contract/transaction.ts';
import type { Logger } from '../log.ts';
import { createProbe } from './probe.ts';
import { createSilenceWatch, type SilenceWatch, type WatchedClient } from './silence-watch.ts';

// knex is CommonJS: the factory is a property of the default export under Node's ESM loader.
const { knex } = knexPackage;

type DatabaseOptions = { readonly poolMax: number; readonly log: Logger };

/**
 * Creates a pool of at most `poolMax` connections. A caller waits up to 5 s for a connection and a statement runs up
 * to 30 s, so an overloaded database leads to errors instead of an unbounded queue. A connection that the network has
 * silently lost is noticed within 10 s: its statements reject, and new connections take its place.
 */
export function createDatabase(url: string, { poolMax, log }: DatabaseOptions): Database {
  const silence = createSilenceWatch({ probe: createProbe(url), log });
  // Knex's types lack `pipeline`, which is the driver's own.
  const connection: Knex.PgConnectionConfig & { pipeline: boolean } = {
    connectionString: url,
    application_name: 'tallystick',
    connectionTimeoutMillis: 5_000,
    statement_timeout: 30_000,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    // Statements of one transaction that are sent together do not wait for each other's results.
    pipeline: true,
  };
  return knex({
    client: 'pg',
    // Otherwise error messages contain the bound values: hashes, ciphertexts, input of callers.
    compileSqlOnError: false,
    connection,
    // Knex would print these to standard output.
    log: {
      warn: (message) => log.warn({ source: 'knex' }, String(message)),
      error: (message) => log.error({ source: 'knex' }, String(message)),
      deprecate: (message) => log.debug({ source: 'knex' }, String(message)),
      debug: (message) => log.debug({ source: 'knex' }, String(message)),
    },
    pool: {
      min: 0,
      max: poolMax,
      acquireTimeoutMillis: 5_000,
      createTimeoutMillis: 10_000,
      afterCreate: watchConnection(log, silence),
      validate: (connection: WatchedClient) => silence.isTrusted(connection),
    },
  });
}

type Done = (error: Error | null, connection: WatchedClient) => void;

// A checked-out client without an error listener ends the process when the server restarts.
function watchConnection(log: Logger, silence: SilenceWatch) {
  return (connection: WatchedClient, done: Done) => {
    connection.on('error', (error) => log.warn({ err: error }, 'database connection lost'));
    silence.add(connection);
    done(null, connection);
  };
}
