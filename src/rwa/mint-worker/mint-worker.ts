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
import { startLane } from './lane.ts';
import { createStaff, type LaneSigner, type WantedSigner } from './staff.ts';
import type { LaneId } from './stores/lane-store.ts';
import { isMintContract } from './stores/queued-nft-store.ts';
import { examineUnfitContracts } from './unfit-contracts.ts';
import { createWatchedLanes } from './watch-only.ts';

export type MintWorker = {
  /** Returns the signers whose lanes have started. */
  signers(): readonly LaneSigner[];
  /** Handles accepted mints by polling the lanes. */
  readonly job: KeyedJob;
  /** Starts the lanes that can start. The others are tried again every 30 seconds. */
  start(): Promise<void>;
  /** @throws Error with the reasons when signers are wanted, and not a single lane has started */
  assertStaffed(): void;
  /** Stops each lane after its current poll. Every signed transaction is stored, so nothing is left half done. */
  stop(): Promise<void>;
};

export type MintWorkerOptions = {
  readonly db: Database;
  readonly notifications: Notifications;
  readonly networks: NetworkRegistry;
  readonly clients: RpcClients;
  readonly signers: readonly WantedSigner[];
  readonly settings: MintSettings;
  readonly log: Logger;
  /** Makes metrics and log lines for operators. */
  readonly observe: StepObserver;
  readonly step?: OnStep;
  readonly now?: () => number;
  /** Names this process to operators, and differs from process to process. */
  readonly holder?: string;
  /** Undefined without traces. */
  readonly tracing?: Tracing | undefined;
};

const reconcileMs = 30_000;

/**
 * Creates the worker for the lanes of its signers. Any number of processes may have the same signers: each lane
 * is worked on by one of them at a time, and passes to another when that one ends.
 */
export function createMintWorker(options: MintWorkerOptions): MintWorker {
  const { db, notifications, log } = options;
  const staff = createStaff({
    ...options,
    wanted: options.signers,
    start({ chainId, signer }) {
      const lane: LaneId = { chainId, signer: signer.address };
      return startLane({ ...laneDeps(options, lane, signer), watchOnly: false });
    },
  });
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
  let unwatch = () => {};
  let reconciling: NodeJS.Timeout | undefined;
  const watched = createWatchedLanes((lane, signer) => laneDeps(options, lane, signer), {
    db,
    own: staff.signers,
  });

  const notifyLanes = (causes: readonly string[]) => {
    for (const lane of staff.lanes()) lane.notify(causes);
    watched.notify();
  };
  const reconcile = () =>
    Promise.all([staff.fill(), watched.adopt().then(() => examineUnfitContracts(options))]);

  return {
    signers: staff.signers,
    assertStaffed: staff.assertSome,
    job: {
      queue: mintQueue,
      // The api has notified all processes, and lanes poll by themselves. This is for what it had no time to notify of.
      async handle() {
        notifyLanes(currentCause());
      },
    },
    async start() {
      audit.start();
      await staff.fill();
      unwatch = options.networks.onChange(() => void staff.fill());
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
      unwatch();
      await Promise.all([audit.stop(), watched.stop(), staff.stop()]);
    },
  };
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
    holder: options.holder ?? `${hostname()} ${process.pid}`,
    findNetwork: (id) => networks.find(id),
    pinNode: (network, known) => clients.pool(network).pin({ ...network, known }),
  };
}
