import { fileURLToPath } from 'node:url';
import { type AreaHandlers, createApp, createDocumentApp } from './app.ts';
import { createBalanceMetrics } from './blockchain/balance-metrics.ts';
import { type BalanceReader, createBalanceReader } from './blockchain/balance-reader.ts';
import { createCursors } from './blockchain/cursor.ts';
import { createBlockchainHandlers } from './blockchain/handlers.ts';
import { createKeySigner, openKeystore } from './chain/minting/key-signer.ts';
import { openKmsKey } from './chain/minting/kms-signer.ts';
import { createNetworkRegistry, type NetworkRegistry } from './chain/networks.ts';
import { createRpcClients, type RpcClients } from './chain/rpc/rpc-clients.ts';
import { createRpcMetrics } from './chain/rpc/rpc-metrics.ts';
import type { Config } from './config.ts';
import { basePaths } from './contract/documents.ts';
import type { Database } from './contract/transaction.ts';
import { createDatabase } from './db/connect.ts';
import { createNotifier } from './db/notifier.ts';
import { createEventsHandlers } from './events/handlers.ts';
import { createLimiter, type Limiter } from './http/dispatch/limits.ts';
import { createHealthRouter } from './http/mounts/health.ts';
import { createMetricsRouter, createRequestMetrics } from './http/mounts/metrics.ts';
import { createPortalRouter } from './http/mounts/portal.ts';
import { createJobMetrics, watchJobs } from './jobs/job-metrics.ts';
import { createJobQueue, type JobQueue } from './jobs/queue.ts';
import { createVerifier } from './keys/create-verifier.ts';
import type { KeyVerifier } from './keys/verifier.ts';
import { meterVerifier } from './keys/verifier-metrics.ts';
import type { Logger } from './log.ts';
import { createMetrics, type Metrics } from './metrics.ts';
import { createDataProviders } from './providers/data-providers.ts';
import { createLagCheck } from './providers/indexer/index-lag.ts';
import { watchIndexes } from './providers/indexer/index-levels.ts';
import { type NetworkIndexes, startNetworkIndexes } from './providers/indexer/index-networks.ts';
import { createIndexObserver } from './providers/indexer/index-observer.ts';
import { createNetworkIndex, indexSettings } from './providers/indexer/network-index.ts';
import { createMetadataFetcher } from './providers/indexer/tokens/metadata-fetcher.ts';
import { createMoralisMetrics } from './providers/moralis/moralis-metrics.ts';
import { createClaimSecretVault } from './rwa/assets/claim-secret.ts';
import { assertKeysKnown } from './rwa/assets/secret-keys-store.ts';
import { createRwaAreaHandlers } from './rwa/handlers/handlers.ts';
import type { OnStep } from './rwa/mint-worker/lane-context.ts';
import { watchMinting } from './rwa/mint-worker/mint-levels.ts';
import { createMintObserver } from './rwa/mint-worker/mint-observer.ts';
import { createMintWorker, type LaneSigner, type MintWorker } from './rwa/mint-worker/mint-worker.ts';
import { assertNoLaneNeedsHelp } from './rwa/mint-worker/stores/lane-store.ts';
import { mintChannel, mintQueue } from './rwa/minting/mint-queue.ts';

/** Every object of the service, built once. */
export type Parts = {
  readonly config: Config;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly observers: Observers;
  readonly db: Database;
  readonly verifier: KeyVerifier;
  readonly limiter: Limiter;
  readonly networks: NetworkRegistry;
  readonly clients: RpcClients;
  readonly balances: BalanceReader;
  readonly jobs: JobQueue;
  readonly handlers: AreaHandlers;
};

/**
 * Builds the parts over a migrated database. Nothing listens or works yet.
 * @throws Error when a key that claim secrets are encrypted with is missing
 */
export async function createParts(config: Config, log: Logger): Promise<Parts> {
  const metrics = createMetrics((source, err) => log.warn({ err, source }, 'levels could not be read'));
  const observers = createObservers(metrics, log);
  const db = createDatabase(config.DATABASE_URL, { poolMax: config.DATABASE_POOL_MAX, log });
  const networks = await createNetworkRegistry({ db, databaseUrl: config.DATABASE_URL, log });
  const clients = createRpcClients({ timeoutMs: config.RPC_TIMEOUT_MS, onAnswer: observers.nodes, log });
  const verifier = meterVerifier(await createVerifier(config, { db, log }), metrics);
  const balances = createBalanceReader({
    clients,
    maxBalances: config.BALANCE_CACHE_MAX,
    onRead: observers.balances,
  });
  const jobs = createJobQueue({
    url: config.DATABASE_URL,
    keyedQueues: [mintQueue],
    works: config.ROLES.includes('worker'),
    onJobs: observers.jobs,
    log,
  });
  return {
    config,
    log,
    metrics,
    observers,
    db,
    verifier,
    limiter: createLimiter({
      db,
      log,
      defaults: { perSecond: config.RATE_LIMIT_PER_SECOND, burst: config.RATE_LIMIT_BURST },
    }),
    networks,
    clients,
    balances,
    jobs,
    handlers: {
      ...createBlockchainPart(config, db, { networks, balances, observers }),
      events: createEventsHandlers({ db, networks, basePath: basePaths.events }),
      ...(await createRwaPart(config, { db, jobs, log })),
    },
  };
}

function createBlockchainPart(
  config: Config,
  db: Database,
  { observers, ...readers }: Pick<Parts, 'networks' | 'balances' | 'observers'>,
) {
  if (config.CURSOR_KEYS === undefined) return {};
  const cursors = createCursors(config.CURSOR_KEYS);
  const providers = createDataProviders(config, { db, onTry: observers.moralis });
  return { blockchain: createBlockchainHandlers({ ...readers, cursors, providers }) };
}

async function createRwaPart(config: Config, { db, jobs, log }: Pick<Parts, 'db' | 'jobs' | 'log'>) {
  if (config.SECRET_KEYS === undefined) return {};
  const vault = createClaimSecretVault(config.SECRET_KEYS);
  await assertKeysKnown(db, vault);
  const { notify: wakeMinting } = createNotifier(db, mintChannel, log);
  return {
    rwa: createRwaAreaHandlers({ db, vault, jobs, wakeMinting, claimBaseUrl: config.CLAIM_BASE_URL }),
  };
}

const portalDirectory = fileURLToPath(new URL('../dist/portal', import.meta.url));

/** The Express app over the parts: the areas that the settings choose, health routes and the portal. */
export function createServiceApp(
  parts: Parts,
  isServing: () => boolean = () => true,
): ReturnType<typeof createApp> {
  const { config, handlers } = parts;
  const served = Object.entries(handlers).filter(([area]) => config.AREAS.some((name) => name === area));
  return createApp({
    ...parts,
    onAnswered: parts.observers.answered,
    handlers: Object.fromEntries(served),
    mounts: [
      { path: '/', handler: createHealth(parts, isServing) },
      { path: '/docs', handler: createPortalRouter({ directory: portalDirectory }) },
    ],
  });
}

/** Who is told of what the parts do, and makes metrics and log lines of it. */
type Observers = ReturnType<typeof createObservers>;

function createObservers(metrics: Metrics, log: Logger) {
  return {
    answered: createRequestMetrics(metrics),
    balances: createBalanceMetrics(metrics),
    index: createIndexObserver(metrics),
    jobs: createJobMetrics(metrics),
    minting: createMintObserver(metrics, log),
    moralis: createMoralisMetrics(metrics),
    nodes: createRpcMetrics(metrics),
  };
}

/** The Express app for operators, with what they ask of a process in any role. It is not metered itself. */
export function createOperationsApp(
  parts: Parts,
  { minter, isServing }: { readonly minter: MintWorker | undefined; readonly isServing: () => boolean },
): ReturnType<typeof createApp> {
  const { metrics } = parts;
  metrics.watchProcess();
  if (minter !== undefined) {
    watchMinting(metrics, { ...parts, signers: minter.signers });
    watchJobs(metrics, parts.jobs);
  }
  if (parts.config.ROLES.includes('indexer')) watchIndexes(metrics, parts);
  return createDocumentApp([], {
    ...parts,
    mounts: [
      { path: '/', handler: createHealth(parts, isServing) },
      { path: '/', handler: createMetricsRouter(metrics) },
    ],
  });
}

function createHealth(
  { config, db, networks, log }: Pick<Parts, 'config' | 'db' | 'networks' | 'log'>,
  isServing: () => boolean,
) {
  const most = config.INDEX_READY_LAG;
  return createHealthRouter({
    isServing,
    checks: [
      { name: 'database', run: async () => void (await db.raw('SELECT 1')) },
      { name: 'networks', run: async () => void (await networks.list()) },
      // Of no concern to a process that only accepts mints: they wait.
      ...(config.ROLES.includes('worker') ? [{ name: 'minting', run: () => assertNoLaneNeedsHelp(db) }] : []),
      ...(most === undefined
        ? []
        : [{ name: 'index', run: createLagCheck({ db, networks, most: BigInt(most) }) }]),
    ],
    onFailure: (name, err) => log.warn({ err, check: name }, 'readiness check failed'),
  });
}

/** A key in memory that signs mints: of the local chain, or of a test. */
export type PlainSigner = { readonly chainId: string; readonly privateKey: string };

/**
 * The worker on accepted mints, with the signers of the settings. Nothing works yet.
 * @throws Error when a keystore cannot be opened
 */
export async function createMinter(
  parts: Parts,
  { plainSigners = [], step }: { plainSigners?: readonly PlainSigner[]; step?: OnStep } = {},
): Promise<MintWorker> {
  const { config, db, networks, clients, jobs, log, observers } = parts;
  const plain = plainSigners.map(({ chainId, privateKey }) => ({
    chainId,
    signer: createKeySigner(privateKey),
  }));
  return createMintWorker({
    ...{ db, networks, clients, jobs, log },
    observe: observers.minting,
    ...(step && { step }),
    databaseUrl: config.DATABASE_URL,
    signers: [...plain, ...(await openSigners(config))],
    settings: {
      feeCap: BigInt(config.MINT_MAX_FEE_GWEI) * 1_000_000_000n,
      maxInFlight: config.MINT_MAX_IN_FLIGHT,
      blockShare: config.MINT_BLOCK_SHARE_PERCENT,
      stuckBlocks: config.MINT_STUCK_BLOCKS,
      pollMs: config.MINT_POLL_MS,
      rebroadcastMs: config.MINT_REBROADCAST_MS,
      leaseSeconds: config.MINT_LEASE_SECONDS,
    },
  });
}

/** Begins to index every network whose data provider is the index. */
export function startIndexes({ config, db, networks, clients, log, observers }: Parts): NetworkIndexes {
  const databaseUrl = config.DATABASE_URL;
  const fetcher = createMetadataFetcher({
    ipfsGateway: config.INDEX_IPFS_GATEWAY,
    allowedHosts: new Set(config.INDEX_METADATA_HOSTS ?? []),
    timeoutMs: 10_000,
    maxBytes: 1_000_000,
  });
  return startNetworkIndexes({
    networks,
    log,
    indexOf(network) {
      const settings = indexSettings(config, network);
      const observer = observers.index;
      return createNetworkIndex({ network, settings, db, databaseUrl, clients, log, fetcher, observer });
    },
  });
}

function openSigners({ MINT_SIGNERS, MINT_KEYSTORE_PASSWORD_FILE }: Config): Promise<LaneSigner[]> {
  const passwordFile = MINT_KEYSTORE_PASSWORD_FILE ?? '';
  return Promise.all(
    (MINT_SIGNERS ?? []).map(async ({ chainId, kind, place }) => ({
      chainId,
      signer: await (kind === 'kms' ? openKmsKey(place) : openKeystore(place, passwordFile)),
    })),
  );
}

/** Ends every connection of the parts, the database last. */
export async function closeParts({ verifier, networks, clients, balances, jobs, db }: Parts): Promise<void> {
  await jobs.stop(0);
  await verifier.close();
  await networks.close();
  clients.close();
  balances.close();
  await db.destroy();
}
