import type { Logger } from '../base/log.ts';
import { createLogMetrics } from '../base/log-lines.ts';
import { createMetrics, type Metrics } from '../base/metrics.ts';
import type { Tracing } from '../base/span.ts';
import { listNetworks } from '../chain/network-store.ts';
import { createNetworkRegistry, type NetworkRegistry } from '../chain/networks.ts';
import { saveNodeState } from '../chain/node-state-store.ts';
import { assertAddressesOpen, nodeAddressesOf } from '../chain/rpc/client/node-address.ts';
import type { OnNodeState } from '../chain/rpc/client/rpc-clients.ts';
import { createRpcMetrics } from '../chain/rpc/client/rpc-metrics.ts';
import type { Config } from '../config/config.ts';
import type { Database } from '../contract/transaction.ts';
import { createNotifications, type Notifications } from '../db/connection/notifications.ts';
import { createReplicaMetrics } from '../db/replica/replica-metrics.ts';
import { createRequestMetrics } from '../http/mounts/metrics.ts';
import { createJobMetrics } from '../jobs/job-metrics.ts';
import { createJobQueue, type JobQueue } from '../jobs/queue.ts';
import { createVerifierMeter } from '../keys/verifier-metrics.ts';
import { assertEndpointKeysOpen } from '../news/endpoints/endpoint-keys.ts';
import { createEndpointSecrets } from '../news/endpoints/endpoint-secret.ts';
import { createIndexObserver } from '../providers/indexer/index-observer.ts';
import { createMoralisMetrics } from '../providers/moralis/moralis-metrics.ts';
import { type ClaimSecretVault, createClaimSecretVault } from '../rwa/assets/claim-secret.ts';
import { assertKeysOpen } from '../rwa/assets/secret-keys-store.ts';
import { createMintObserver } from '../rwa/mint-worker/mint-observer.ts';
import { createLedgerObserver } from '../rwa/ownership/ledger-levels.ts';
import { openTracing } from '../tracing/open-tracing.ts';
import { type Connections, openConnections, sessionUrlOf } from './connections.ts';
import { jobQueues } from './job-queues.ts';

/** What a process has in every role. */
export type Parts = Connections & {
  readonly config: Config;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly observers: Observers;
  readonly notifications: Notifications;
  readonly networks: NetworkRegistry;
  readonly jobs: JobQueue;
  /** Undefined where no collector of traces is named. */
  readonly tracing: Tracing | undefined;
  /** Undefined without the role `api` or the setting SECRET_KEYS. */
  readonly vault: ClaimSecretVault | undefined;
};

/**
 * Builds the parts over a migrated database. Nothing listens or works yet.
 * @param opened closes the parts, also those of a call that throws; the database last
 * @throws Error when a key that claim secrets or addresses of nodes are sealed with is missing or another one
 */
export async function createParts(config: Config, log: Logger, opened: AsyncDisposableStack): Promise<Parts> {
  // Before all others, so that it is closed behind them.
  const tracing = opened.adopt(await openTracing(config, log), (opening) => opening?.stop());
  const metrics = createMetrics((source, err) => log.warn({ err, source }, 'levels could not be read'));
  const observers = createObservers(metrics, log);
  const { db, clients, outgoing } = openConnections(
    config,
    {
      poolMax: config.DATABASE_POOL_MAX,
      log,
      onAnswer: observers.nodes,
      onNodeState: (into) => storeNodeStates(into, log),
    },
    opened,
  );
  const notifications = opened.adopt(createNotifications({ url: sessionUrlOf(config), log }), (listening) =>
    listening.close(),
  );
  const networks = opened.adopt(await createNetworkRegistry({ db, notifications }), (registry) =>
    registry.close(),
  );
  const jobQueue = createJobQueue({
    db,
    queues: jobQueues,
    works: config.ROLES.includes('worker'),
    onJobs: observers.jobs,
    log,
    tracing,
  });
  // Sending connects the queue too, so it is closed even where no job was ever worked on.
  const jobs = opened.adopt(jobQueue, (queue) => queue.stop(0));
  // Only processes that answer callers read claim secrets.
  const vault = config.ROLES.includes('api') ? await openVault(config, db) : undefined;
  await checkEndpointKeys(config, db);
  assertAddressesOpen(await listNetworks(db), nodeAddressesOf(config));
  const told = { log, metrics, observers, tracing };
  return { config, ...told, db, clients, outgoing, notifications, networks, jobs, vault };
}

/** Stores what is thought of nodes, for the operator's command. Nobody waits for it. */
function storeNodeStates(db: Database, log: Logger): OnNodeState {
  return (chainId, { node, state, reason, since }) => {
    saveNodeState(db, { chainId, node, state, reason, since }).catch((err: unknown) =>
      log.warn({ err, chainId, url: node, state }, 'state of a node not stored'),
    );
  };
}

/** Only processes that answer callers or send news read secrets of endpoints. */
async function checkEndpointKeys({ ROLES, SECRET_KEYS }: Config, db: Database): Promise<void> {
  if (SECRET_KEYS === undefined || !ROLES.some((role) => role !== 'indexer')) return;
  await assertEndpointKeysOpen(db, createEndpointSecrets(SECRET_KEYS));
}

async function openVault({ SECRET_KEYS }: Config, db: Database): Promise<ClaimSecretVault | undefined> {
  if (SECRET_KEYS === undefined) return undefined;
  const vault = createClaimSecretVault(SECRET_KEYS);
  await assertKeysOpen(db, vault);
  return vault;
}

/** Functions that the parts call with what they did; metrics and log lines are made of it. */
type Observers = ReturnType<typeof createObservers>;

/** Registers the metrics of every role: a process in one role exposes the names of the others without values. */
function createObservers(metrics: Metrics, log: Logger) {
  return {
    answered: createRequestMetrics(metrics),
    index: createIndexObserver(metrics),
    jobs: createJobMetrics(metrics),
    logLineDropped: createLogMetrics(metrics),
    meterVerifier: createVerifierMeter(metrics),
    minting: createMintObserver(metrics, log),
    moralis: createMoralisMetrics(metrics),
    nodes: createRpcMetrics(metrics),
    owners: createLedgerObserver(metrics, log),
    replica: createReplicaMetrics(metrics),
  };
}
