import { hostname } from 'node:os';
import type { Logger } from '../../base/log.ts';
import type { Tracing } from '../../base/span.ts';
import { findFinalBlock } from '../../chain/finality-store.ts';
import { createMintNode } from '../../chain/minting/mint-node.ts';
import { limitSigner, type MintSigner } from '../../chain/minting/signer.ts';
import type { NetworkRegistry } from '../../chain/networks.ts';
import type { RpcClients } from '../../chain/rpc/client/rpc-clients.ts';
import type { Database } from '../../contract/transaction.ts';
import type { Notifications } from '../../db/connection/notifications.ts';
import { causesOf } from '../../db/connection/notifier.ts';
import type { KeyedJob } from '../../jobs/queue.ts';
import { currentCause } from '../../tracing/in-span.ts';
import { mintChannel, mintQueue } from '../minting/accept/mint-queue.ts';
import { createAudit } from './audit/audit.ts';
import type { LaneDeps, MintSettings, OnStep, StepObserver } from './context/lane-context.ts';
import { type Lane, startLane } from './lane.ts';
import { type LaneId, registerLane } from './stores/lane-store.ts';
import { isMintContract } from './stores/queued-nft-store.ts';
import { examineUnfitContracts } from './unfit-contracts.ts';
import { createWatchedLanes } from './watch-only.ts';

/** A signer and the network that it signs for. */
export type LaneSigner = { readonly chainId: string; readonly signer: MintSigner };

export type MintWorker = {
  readonly signers: readonly LaneSigner[];
  /** Handles accepted mints by polling the lanes. */
  readonly job: KeyedJob;
  start(): Promise<void>;
  /** Stops each lane after its current poll. Every signed transaction is stored, so nothing is left half done. */
  stop(): Promise<void>;
};

export type MintWorkerOptions = {
  readonly db: Database;
  readonly notifications: Notifications;
  readonly networks: NetworkRegistry;
  readonly clients: RpcClients;
  readonly signers: readonly LaneSigner[];
  readonly settings: MintSettings;
  readonly log: Logger;
  /** Makes metrics and log lines for operators. */
  readonly observe: StepObserver;
  readonly step?: OnStep;
  readonly now?: () => number;
  /** Undefined without traces. */
  readonly tracing?: Tracing | undefined;
};

const reconcileMs = 30_000;

/**
 * Creates the worker for the lanes of its signers. Any number of processes may have the same signers: each lane
 * is worked on by one of them at a time, and passes to another when that one ends.
 */
export function createMintWorker(options: MintWorkerOptions): MintWorker {
  const { db, notifications, signers, log } = options;
  const lanes: Lane[] = [];
  const audit = createAudit({
    ...options,
    nodeOf: async (network) => {
      const known = await findFinalBlock(db, network.chainId);
      const pinned = await options.clients.pool(network).pin({ ...network, known });
      const doubt = pinned.disagreement ?? pinned.finalityUnknown ?? pinned.rolledBack;
      return doubt === undefined ? createMintNode(pinned.provider, pinned) : undefined;
    },
  });
  let unsubscribe = () => {};
  let reconciling: NodeJS.Timeout | undefined;
  const own = signers.map(({ chainId, signer }) => ({ chainId, signer: signer.address }));
  const watched = createWatchedLanes((lane, signer) => laneDeps(options, lane, signer), { db, own });

  const notifyLanes = (causes: readonly string[]) => {
    for (const lane of lanes) lane.notify(causes);
    watched.notify();
  };
  const reconcile = async () => {
    await watched.adopt();
    await examineUnfitContracts(options);
  };

  return {
    signers,
    job: {
      queue: mintQueue,
      // The api has notified all processes, and lanes poll by themselves. This is for what it had no time to notify of.
      async handle() {
        notifyLanes(currentCause());
      },
    },
    async start() {
      audit.start();
      for (const signer of signers) lanes.push(await registerAndStart(options, signer));
      await watched.adopt();
      unsubscribe = await notifications.subscribe({
        channel: mintChannel,
        onNotify: (payload) => notifyLanes(causesOf(payload)),
        onGap: () => notifyLanes([]),
      });
      reconciling = setInterval(() => {
        reconcile().catch((err: unknown) => log.warn({ err }, 'mints could not be reconciled'));
      }, reconcileMs);
    },
    async stop() {
      clearInterval(reconciling);
      unsubscribe();
      await Promise.all([audit.stop(), watched.stop(), ...lanes.map((lane) => lane.stop())]);
    },
  };
}

async function registerAndStart(options: MintWorkerOptions, { chainId, signer }: LaneSigner): Promise<Lane> {
  const lane: LaneId = { chainId, signer: signer.address };
  await registerLane(options.db, lane);
  return startLane({ ...laneDeps(options, lane, signer), watchOnly: false });
}

function laneDeps(options: MintWorkerOptions, lane: LaneId, signer: MintSigner): Omit<LaneDeps, 'watchOnly'> {
  const { db, networks, clients, settings, log, observe, step, tracing } = options;
  const { chainId } = lane;
  return {
    db,
    lane,
    signer: limitSigner(signer, { chainId, allows: (contract) => isMintContract(db, chainId, contract) }),
    settings,
    log,
    tracing,
    step(name, facts) {
      observe(lane, name, facts);
      return step?.(name, facts);
    },
    now: options.now ?? (() => performance.now()),
    holder: `${hostname()} ${process.pid}`,
    findNetwork: (id) => networks.find(id),
    pinNode: (network, known) => clients.pool(network).pin({ ...network, known }),
  };
}
