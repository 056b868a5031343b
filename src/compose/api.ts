import { type BalanceReader, createBalanceReader } from '../blockchain/balance-reader.ts';
import { createCursors } from '../blockchain/cursor.ts';
import { createBlockchainHandlers } from '../blockchain/handlers.ts';
import { basePaths } from '../contract/documents.ts';
import { createDatabase } from '../db/connection/connect.ts';
import { createNotifier } from '../db/connection/notifier.ts';
import { atPrimary, createReplicaReads, type MayLag } from '../db/replica/replica-reads.ts';
import { createTickets } from '../events/checkin/tickets.ts';
import { createHoldingsReader, type HoldingsReader } from '../events/eligibility/holdings.ts';
import { createEventsHandlers } from '../events/handlers.ts';
import { type AddressLimit, createAddressLimit } from '../http/dispatch/address-limit.ts';
import { createLimiter, type Limiter } from '../http/dispatch/limits.ts';
import { createClaimPageRouter } from '../http/mounts/claim-page.ts';
import type { Deployment } from '../http/mounts/deployment.ts';
import { createOfflinePageRouter } from '../http/mounts/offline-page.ts';
import { createPortalRouter, createStartRouter } from '../http/mounts/portal.ts';
import { portalDirectories } from '../http/mounts/portal-files.ts';
import { createAdmission, type RequestAdmission } from '../http/server/admission.ts';
import type { App } from '../http/server/app-classes.ts';
import { createStrangerPace } from '../http/server/stranger-pace.ts';
import { createVerifier } from '../keys/create-verifier.ts';
import { createKeyUses, type KeyUses } from '../keys/key-uses.ts';
import { createOwnKeyHandler } from '../keys/own-key.ts';
import { createUsageHandler } from '../keys/usage-handler.ts';
import type { KeyVerifier } from '../keys/verifier.ts';
import { createEndpointSecrets } from '../news/endpoints/endpoint-secret.ts';
import { createFeedWatch, type FeedWatch } from '../news/feed/feed-watch.ts';
import { createNewsHandlers } from '../news/handlers.ts';
import { createDataProviders } from '../providers/data-providers.ts';
import { createStateReader, type StateReader } from '../providers/indexer/read/state-reader.ts';
import { createRwaAreas } from '../rwa/handlers/handlers.ts';
import { mintChannel } from '../rwa/minting/accept/mint-queue.ts';
import { type AreaHandlers, createApp } from './app.ts';
import { sessionUrlOf } from './connections.ts';
import { createReadiness } from './health.ts';
import type { Parts } from './parts.ts';

/** What a process has in the role `api` in addition to the parts of every role. */
export type ApiParts = Parts & {
  readonly verifier: KeyVerifier;
  readonly limiter: Limiter;
  readonly refusedKeys: AddressLimit;
  readonly publicRequests: AddressLimit;
  readonly admission: RequestAdmission;
  readonly balances: BalanceReader;
  readonly handlers: AreaHandlers;
  readonly keyUses: KeyUses;
  /** Ends the waits of those who follow the feed. */
  readonly feedWatch: FeedWatch;
};

/** A request in work mostly waits for the database. A fifth of the pool is left to work in the background. */
const requestsAtOnce = (poolMax: number): number => Math.max(1, poolMax - Math.ceil(poolMax / 5));

/**
 * Builds what answers callers. Nothing listens yet.
 * @param opened closes what is added to the parts
 */
export async function createApiParts(parts: Parts, opened: AsyncDisposableStack): Promise<ApiParts> {
  const { config, db, log, clients, observers } = parts;
  const { maxCacheBytes: cacheBytes } = config.fixed;
  const verifier = opened.adopt(await createVerifier(config, parts), (opening) => opening.close());
  const balances = opened.adopt(createBalanceReader({ clients, cacheBytes }), (reader) => reader.close());
  const admission = opened.adopt(
    createAdmission({
      requests: requestsAtOnce(config.DATABASE_POOL_MAX),
      waitMs: config.fixed.maxWaitMs,
      maxDelayMs: config.fixed.maxLoopDelayMs,
    }),
    (opening) => opening.close(),
  );
  const feedWatch = opened.adopt(await createFeedWatch(parts.notifications), (watch) => watch.close());
  const keyUses = opened.adopt(createKeyUses({ db, log }), (uses) => uses.stop());
  const holdings = opened.adopt(createHoldingsReader({ ...parts, cacheBytes }), (reader) => reader.close());
  const states = opened.adopt(createStateReader({ clients, cacheBytes }), (reader) => reader.close());
  return {
    ...parts,
    verifier: observers.meterVerifier(verifier),
    limiter: createLimiter({
      db,
      log,
      defaults: usualLimit(config),
      countsAtOnce: Math.ceil(config.DATABASE_POOL_MAX / 5),
      waitMs: config.fixed.maxWaitMs,
    }),
    refusedKeys: createAddressLimit(config.fixed.unknownKeysPerMinute),
    publicRequests: createAddressLimit(config.PUBLIC_REQUESTS_PER_MINUTE),
    admission,
    balances,
    feedWatch,
    keyUses,
    handlers: createHandlers(parts, {
      balances,
      holdings,
      states,
      feedWatch,
      mayLag: openReads(parts, opened),
    }),
  };
}

/** Reads that may lag go to the replica of the settings; without one, to the database. */
function openReads({ config, db, log, observers }: Parts, opened: AsyncDisposableStack): MayLag {
  const { DATABASE_REPLICA_URL: url } = config;
  if (url === undefined) return atPrimary(db);
  const openPool = (poolMax = config.DATABASE_POOL_MAX) => createDatabase(url, { poolMax, log });
  const { onRead, watch } = observers.replica;
  const reads = createReplicaReads({ db, maxLagMs: config.fixed.replicaMaxLagMs, openPool, log, onRead });
  watch(opened.adopt(reads, (replica) => replica.close()));
  return reads.mayLag;
}

/** Of keys without a limit of their own. */
const usualLimit = (config: Parts['config']) => ({
  perSecond: config.RATE_LIMIT_PER_SECOND,
  burst: config.RATE_LIMIT_BURST,
});

type Readers = {
  readonly balances: BalanceReader;
  readonly holdings: HoldingsReader;
  readonly states: StateReader;
  readonly mayLag: MayLag;
  readonly feedWatch: FeedWatch;
};

function createHandlers(parts: Parts, readers: Readers): AreaHandlers {
  const { config, db, networks, clients } = parts;
  const { mayLag, holdings } = readers;
  const tickets = createTickets(config.SECRET_KEYS);
  const getKey = createOwnKeyHandler({ db, defaults: usualLimit(config) });
  const { publicBaseUrl, PROOF_DOMAIN: domain = new URL(publicBaseUrl).host } = config;
  const basePath = basePaths.events;
  const place = { domain, areaUrl: `${publicBaseUrl}${basePath}` };
  const blockchain = createBlockchainArea(parts, readers);
  const rwa = createRwaArea(parts, mayLag);
  const news = createNewsArea(parts, readers);
  const ticketPage = config.PUBLIC_BASE_URL === undefined ? undefined : `${publicBaseUrl}/ticket`;
  const ofChains = { networks, clients, holdings };
  const events = createEventsHandlers({ db, mayLag, ...ofChains, place, tickets, ticketPage, basePath });
  return {
    ...(blockchain && { blockchain: { ...blockchain, getBlockchainKey: getKey } }),
    events: { ...events, getEventsKey: getKey },
    ...(rwa && {
      rwa: { ...rwa.rwa, getRwaKey: getKey, getUsage: createUsageHandler(db) },
      claim: rwa.claim,
    }),
    ...(news && { news: { ...news, getNewsKey: getKey } }),
  };
}

function createBlockchainArea(
  { config, db, networks, outgoing, log, observers }: Parts,
  { balances, states, mayLag }: Readers,
) {
  if (config.CURSOR_KEYS === undefined) return undefined;
  const cursors = createCursors(config.CURSOR_KEYS);
  const told = { log, moralis: observers.moralis };
  const openSession = () => createDatabase(sessionUrlOf(config), { poolMax: 1, log });
  const providers = createDataProviders(config, { db, openSession, mayLag, states, outgoing, ...told });
  return createBlockchainHandlers({ networks, balances, cursors, providers });
}

function createRwaArea({ config, db, jobs, log, vault, networks, clients }: Parts, mayLag: MayLag) {
  if (vault === undefined) return undefined;
  const { notify: wakeMinting } = createNotifier(db, mintChannel, log);
  const { claimBaseUrl, SNAPSHOT_HOLDERS_PER_COMPANY: mostHolders } = config;
  const limits = { claimBaseUrl, mostHolders };
  return createRwaAreas({ db, mayLag, vault, log, jobs, wakeMinting, networks, clients, ...limits });
}

function createNewsArea({ config, db }: Parts, { feedWatch: watch }: Readers) {
  if (config.SECRET_KEYS === undefined) return undefined;
  const secrets = createEndpointSecrets(config.SECRET_KEYS);
  const more = { allowedHosts: config.WEBHOOK_HOSTS ?? [], basePath: basePaths.news };
  return createNewsHandlers({ db, watch, secrets, paths: basePaths, ...more });
}

const deploymentOf = ({ publicBaseUrl, OPERATOR_NAME, SUPPORT_URL }: Parts['config']): Deployment => ({
  baseUrl: publicBaseUrl,
  operator: OPERATOR_NAME,
  supportUrl: SUPPORT_URL ?? `${publicBaseUrl}/docs/`,
});

const pageOptionsOf = ({ OPERATOR_NAME, SUPPORT_URL, WALLET_HELP_URL }: Parts['config']) => ({
  operator: OPERATOR_NAME,
  supportUrl: SUPPORT_URL,
  walletHelpUrl: WALLET_HELP_URL,
});

/** The pages for people, each with its area. */
function pagesOf(config: Parts['config']) {
  const options = pageOptionsOf(config);
  const claim = { path: '/claim', handler: createClaimPageRouter(options) };
  const ofEvents = (['door', 'ticket'] as const).map((name) => ({
    path: `/${name}`,
    handler: createOfflinePageRouter(name, options),
  }));
  return [
    ...(config.AREAS.includes('claim') ? [claim] : []),
    ...(config.AREAS.includes('events') ? ofEvents : []),
  ];
}

/**
 * The Express app for callers: the areas that the settings choose, the health routes and the portal.
 * @param isServing false while the process starts or stops
 * @param sampleKey of the local service with its sample data, which no setting gives
 */
export function createServiceApp(
  parts: ApiParts,
  isServing: () => boolean = () => true,
  sampleKey?: string,
): Promise<App> {
  const { config, handlers, observers, keyUses } = parts;
  const served = Object.entries(handlers).filter(([area]) => config.AREAS.some((name) => name === area));
  const strangers = createStrangerPace();
  return createApp({
    ...parts,
    strangers,
    onAnswered(facts, status, seconds) {
      observers.answered(facts, status, seconds);
      keyUses.note(facts, status);
    },
    deadlineMs: config.fixed.requestDeadlineMs,
    maxAnswerBytes: config.fixed.maxAnswerBytes,
    trustedProxies: config.TRUSTED_PROXIES,
    browserOrigins: config.BROWSER_ORIGINS,
    handlers: Object.fromEntries(served),
    mounts: [
      { path: '/', handler: createReadiness(parts, isServing) },
      {
        path: '/docs',
        handler: createPortalRouter({
          directory: portalDirectories[config.PORTAL_PAGES],
          deployment: { ...deploymentOf(config), sampleKey },
          pace: strangers,
        }),
      },
      { path: '/', handler: createStartRouter() },
      ...pagesOf(config),
    ],
  });
}
