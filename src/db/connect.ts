import knexPackage, { type Knex } from 'knex';
import type { Logger } from '../log.ts';

// knex is CommonJS: the factory is a property of the default export under Node's ESM loader.
const { knex } = knexPackage;

type DatabaseOptions = { readonly poolMax: number; readonly log: Logger };

/**
 * The pool of connections. A caller waits at most 5 s for one and a statement runs at most 30 s, so a sick
 * database turns into errors instead of a queue without end.
 */
export function createDatabase(url: string, { poolMax, log }: DatabaseOptions): Knex {
  // Knex's types lack `pipeline`, which is the driver's own.
  const connection: Knex.PgConnectionConfig & { pipeline: boolean } = {
    connectionString: url,
    application_name: 'tallystick',
    connectionTimeoutMillis: 5_000,
    statement_timeout: 30_000,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    // Works that share a transaction do not wait for each other's answers.
    pipeline: true,
  };
  const db = knex({
    client: 'pg',
    // Otherwise messages of errors carry the bound values: hashes, ciphers, what callers sent.
    compileSqlOnError: false,
    connection,
    // Knex would print these to standard output.
    log: {
      warn: (message) => log.warn({ source: 'knex' }, String(message)),
      error: (message) => log.error({ source: 'knex' }, String(message)),
      deprecate: (message) => log.debug({ source: 'knex' }, String(message)),
      debug: (message) => log.debug({ source: 'knex' }, String(message)),
    },
    pool: { min: 0, max: poolMax, acquireTimeoutMillis: 5_000, afterCreate: watchConnection(log) },
  });
  return db;
}

type Connection = { on(event: 'error', listener: (error: Error) => void): void };
type Done = (error: Error | null, connection: Connection) => void;

// A checked-out client without an error listener ends the process when the server restarts.
function watchConnection(log: Logger) {
  return (connection: Connection, done: Done) => {
    connection.on('error', (error) => log.warn({ err: error }, 'database connection lost'));
    done(null, connection);
  };
}
