import packageFile from '../../package.json' with { type: 'json' };
import type { Logger } from '../base/log.ts';
import type { LogLines } from '../base/log-lines.ts';
import { type ApiParts, createApiParts, createServiceApp } from '../compose/api.ts';
import { openDatabase } from '../compose/connections.ts';
import { createOperationsApp, type OperationsOptions } from '../compose/operations.ts';
import { createParts, type Parts } from '../compose/parts.ts';
import { createShutdown, type Shutdown } from '../compose/shutdown.ts';
import type { MinterOptions } from '../compose/worker.ts';
import type { Config } from '../config/config.ts';
import { untilServerAnswers } from '../db/connection/await-server.ts';
import { beginHeartbeat } from '../db/records/heartbeat.ts';
import { inspectDatabase } from '../db/schema/inspect.ts';
import { assertRightsOf } from '../db/schema/role-store.ts';
import { assertSupported, assertUsable, newerSchema } from '../db/schema/schema-check.ts';
import type { App } from '../http/server/app-classes.ts';
import { createProxyCheck } from '../http/server/caller-address.ts';
import { type HttpServer, listen } from '../http/server/listener.ts';
import { openFilesLimit, withinOpenFiles } from '../http/server/open-files.ts';
import type { MintWorker } from '../rwa/mint-worker/mint-worker.ts';
import type { OwnershipLedger } from '../rwa/ownership/ledger.ts';

export type Service = {
  /** Of the listener for callers; 0 without one. */
  readonly port: number;
  /** Of the listener for operators. */
  readonly operationsPort: number | undefined;
  /**
   * Stops in the phases of {@link stopLimits}.
   * @throws AggregateError with everything that did not end as it should, once all else has
   */
  stop(): Promise<void>;
};

/** The phases of a stop in their order, and how many milliseconds each may take. */
const stopLimits = (graceMs: number, drainMs: number) => ({
  /** The process is not ready any more, so load balancers send nothing new. */
  readiness: 1_000,
  /** Until they have noticed, requests are answered, and connections closed behind their answers. */
  drain: drainMs + 1_000,
  /** No new connections; requests in progress end, and each mint lane ends what it is at. */
  requests: graceMs + 5_000,
  /** Jobs and indexes in progress end. */
  background: graceMs + 5_000,
  /** Until here operators can watch. */
  operators: 5_000,
  /** The database last. */
  connections: 10_000,
});

// Questions of operators are answered in 2 s or not at all.
const operatorsGraceMs = 2_500;

/** What is given in addition to the settings; all but the log by the local environment. */
type StartOptions = MinterOptions & {
  /** Where the log is written, whose losses are counted. */
  readonly logLines?: Pick<LogLines, 'onDropped'>;
  /** The key of the sample company, which the portal offers to readers. */
  readonly sampleKey?: string;
};

type ServiceShutdown = Shutdown<keyof ReturnType<typeof stopLimits>>;

/**
 * Starts the roles that the settings choose over a migrated database. A start that fails closes what it
 * has opened.
 * @throws Error with what to fix, such as a schema that is not current or a port that cannot be listened on
 */
export async function startService(
  config: Config,
  log: Logger,
  options: StartOptions = {},
): Promise<Service> {
  await untilServerAnswers({ url: config.DATABASE_URL, log });
  await assertMigrated(config, log);
  const stopGraceMs = config.SHUTDOWN_SECONDS * 1_000;
  const drainMs = config.DRAIN_SECONDS * 1_000;
  const shutdown = createShutdown(stopLimits(stopGraceMs, drainMs), log);
  try {
    const ports = await startRoles(config, log, options, shutdown);
    return {
      ...ports,
      async stop() {
        log.info('service stopping');
        await shutdown.run(stopGraceMs);
        log.info('service stopped');
      },
    };
  } catch (error) {
    // The service logs its own failures; the caller gets the reason why the start failed.
    await shutdown.run(0).catch(() => {});
    throw error;
  }
}

async function startRoles(config: Config, log: Logger, options: StartOptions, shutdown: ServiceShutdown) {
  const opened = new AsyncDisposableStack();
  shutdown.add('connections', 'connections', () => opened.disposeAsync());
  const parts = await createParts(config, log, opened);
  options.logLines?.onDropped(parts.observers.logLineDropped);
  const apiParts = config.ROLES.includes('api') ? await createApiParts(parts, opened) : undefined;
  // What only some roles do is loaded by them, so that the others are ready sooner.
  const work = config.ROLES.includes('worker') ? await import('../compose/worker.ts') : undefined;
  const minter = work?.createMinter(parts, options);

  const state = { serving: false };
  const isServing = () => state.serving;
  shutdown.add('readiness', 'readiness', async () => {
    state.serving = false;
  });

  // Before all others, so that operators see that the process is not ready yet.
  const operations = await listenForOperators(parts, { minter, isServing });
  if (operations)
    shutdown.add('operators', 'listener for operators', () => operations.stop(operatorsGraceMs));

  shutdown.add('background', 'jobs', (graceMs) => parts.jobs.stop(graceMs));
  // Who only indexes has no jobs, and no rights to them.
  if (config.ROLES.some((role) => role !== 'indexer')) await parts.jobs.open();

  // Before the first request: handlers read the lanes to know whether a network can mint.
  if (minter) await startLanes(minter, shutdown);

  const app = apiParts && (await createServiceApp(apiParts, isServing, options.sampleKey));
  const server = app && (await listenForCallers(apiParts, app));
  if (server) {
    const drainMs = config.DRAIN_SECONDS * 1_000;
    // A rejected start drains nothing, because nobody was informed that it is ready.
    const drain = (graceMs: number) => server.drain(graceMs === 0 ? 0 : drainMs);
    if (drainMs > 0) shutdown.add('drain', 'listener for callers', drain);
    shutdown.add('requests', 'listener for callers', (graceMs) => server.stop(graceMs));
    shutdown.add('readiness', 'readers of the feed', async () => apiParts.feedWatch.close());
  }

  if (minter) await work?.startJobs(parts, minter);
  if (work) startLedger(work.createLedger(parts), shutdown);
  for (const loop of work?.startNews(parts) ?? []) shutdown.add('background', loop.name, () => loop.stop());

  if (config.ROLES.includes('indexer')) {
    const { startIndexes } = await import('../compose/indexer.ts');
    const indexes = startIndexes(parts);
    shutdown.add('background', 'indexes', (graceMs) => indexes.stop(graceMs));
  }

  const heartbeat = beginHeartbeat({
    db: parts.db,
    log,
    roles: config.ROLES,
    version: packageFile.version,
  });
  shutdown.add('background', 'heartbeat', () => heartbeat.stop());

  state.serving = true;
  const ports = { port: server?.port, operationsPort: operations?.port };
  log.info({ ...ports, areas: config.AREAS, roles: config.ROLES }, 'service started');
  return { ...ports, port: ports.port ?? 0 };
}

/** Registers the stop before the start: of several lanes, the first may work when the second cannot start. */
async function startLanes(minter: MintWorker, shutdown: ServiceShutdown): Promise<void> {
  shutdown.add('requests', 'mint lanes', () => minter.stop());
  await minter.start();
}

// Further ones would take memory, and the files that a process may open are often fewer. An office has one address.
const mostConnections = { total: 10_000, perAddress: 1_000 };

function startLedger(ledger: OwnershipLedger, shutdown: ServiceShutdown): void {
  shutdown.add('background', 'ledger of owners', () => ledger.stop());
  ledger.start();
}

function listenForCallers({ config, log }: ApiParts, app: App): Promise<HttpServer> {
  const { HOST: host, PORT: port, TRUSTED_PROXIES: proxies = [] } = config;
  return listen(app, {
    host,
    port,
    settings: { host: 'HOST', port: 'PORT' },
    limits: {
      ...withinOpenFiles(mostConnections, openFilesLimit(), log),
      isProxy: createProxyCheck(proxies),
    },
    log,
  });
}

async function listenForOperators(parts: Parts, options: OperationsOptions): Promise<HttpServer | undefined> {
  const { OPERATIONS_PORT: port, OPERATIONS_HOST: host } = parts.config;
  if (port === undefined) return undefined;
  const settings = { host: 'OPERATIONS_HOST', port: 'OPERATIONS_PORT' };
  return listen(createOperationsApp(parts, options), { host, port, settings, log: parts.log });
}

/** @throws SchemaError */
async function assertMigrated(config: Config, log: Logger): Promise<void> {
  const db = openDatabase(config, { poolMax: 1, log });
  try {
    const state = await inspectDatabase(db);
    assertSupported(state);
    assertUsable(state);
    await assertRightsOf(db, config.ROLES);
    const newer = newerSchema(state);
    if (newer !== undefined) log.warn(`the schema is ${newer}`);
  } finally {
    await db.destroy();
  }
}
