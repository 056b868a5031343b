import {
  closeParts,
  createMinter,
  createOperationsApp,
  createParts,
  createServiceApp,
  type Parts,
  startIndexes,
} from './compose.ts';
import type { Config } from './config.ts';
import { createDatabase } from './db/connect.ts';
import { purgeExpiredRows } from './db/housekeeping.ts';
import { inspectDatabase } from './db/inspect.ts';
import { type HttpServer, listen } from './http/server/listener.ts';
import type { Logger } from './log.ts';

export type Service = {
  /** Of the listener for callers; 0 without one. */
  readonly port: number;
  /** Of the listener for operators. */
  readonly operationsPort: number | undefined;
  /** Stops in phases: not ready, no new requests, requests in progress and lanes, jobs and indexes, connections; operators may look on meanwhile. */
  stop(): Promise<void>;
};

/**
 * Starts the roles that the settings choose over a migrated database.
 * @throws Error with what to mend when the schema is not current or the port cannot be listened on
 */
export async function startService(
  config: Config,
  log: Logger,
  signing: Parameters<typeof createMinter>[1] = {},
): Promise<Service> {
  await assertMigrated(config, log);
  const parts = await createParts(config, log);
  const state = { serving: false };
  const isServing = () => state.serving;
  const graceMs = config.SHUTDOWN_SECONDS * 1_000;
  let operations: HttpServer | undefined;
  try {
    const minter = config.ROLES.includes('worker') ? await createMinter(parts, signing) : undefined;
    // Before all others, so that whoever waits for the process is told that it is not ready yet.
    operations = await listenForOperators(parts, { minter, isServing });
    await parts.jobs.open();
    // Before anybody can ask: what is minted on a network shows in its lanes.
    await minter?.start();
    const server = config.ROLES.includes('api')
      ? await listen(await createServiceApp(parts, isServing), {
          host: config.HOST,
          port: config.PORT,
          settings: { host: 'HOST', port: 'PORT' },
          log,
        })
      : undefined;
    if (minter !== undefined) {
      const purge = {
        queue: 'purge-expired',
        cron: '*/10 * * * *',
        handle: () => purgeExpiredRows(parts.db),
      };
      await parts.jobs.work({ scheduled: [purge], keyed: [minter.job] });
    }
    const indexes = config.ROLES.includes('indexer') ? startIndexes(parts) : undefined;
    state.serving = true;
    const operationsPort = operations?.port;
    log.info(
      { port: server?.port, operationsPort, areas: config.AREAS, roles: config.ROLES },
      'service started',
    );
    return {
      port: server?.port ?? 0,
      operationsPort,
      async stop() {
        state.serving = false;
        log.info('service stopping');
        await Promise.all([server?.stop(graceMs), minter?.stop()]);
        await Promise.all([parts.jobs.stop(graceMs), indexes?.stop(graceMs)]);
        await operations?.stop(closingMs);
        await closeParts(parts);
        log.info('service stopped');
      },
    };
  } catch (error) {
    await operations?.stop(0);
    await closeParts(parts);
    throw error;
  }
}

// What operators ask is answered in 2 s or not at all.
const closingMs = 2_500;

async function listenForOperators(
  parts: Parts,
  options: Parameters<typeof createOperationsApp>[1],
): Promise<HttpServer | undefined> {
  const { OPERATIONS_PORT: port, OPERATIONS_HOST: host } = parts.config;
  if (port === undefined) return undefined;
  const settings = { host: 'OPERATIONS_HOST', port: 'OPERATIONS_PORT' };
  return listen(await createOperationsApp(parts, options), { host, port, settings, log: parts.log });
}

async function assertMigrated(config: Config, log: Logger): Promise<void> {
  const db = createDatabase(config.DATABASE_URL, { poolMax: 1, log });
  try {
    const { version, supported, pending, unknown } = await inspectDatabase(db);
    if (!supported) throw new Error(`PostgreSQL ${version} is too old: use 15 or later.`);
    if (pending.length > 0) {
      throw new Error(
        `The database schema lacks ${pending.length} migration(s). Run: npx tallystick migrate`,
      );
    }
    if (unknown.length > 0) throw new Error('The database schema is of a newer release. Start that one.');
  } finally {
    await db.destroy();
  }
}
