import { hostname } from 'node:os';
import { createMintNode } from '../../chain/minting/mint-node.ts';
import type { MintSigner } from '../../chain/minting/signer.ts';
import type { NetworkRegistry } from '../../chain/networks.ts';
import type { RpcClients } from '../../chain/rpc/rpc-clients.ts';
import type { Database } from '../../contract/transaction.ts';
import { createListener, type Listener } from '../../db/listener.ts';
import type { JobSender, KeyedJob } from '../../jobs/queue.ts';
import type { Logger } from '../../log.ts';
import { mintChannel as channel, mintQueue } from '../minting/mint-queue.ts';
import { type Lane, startLane } from './lane.ts';
import type { MintSettings, OnStep } from './lane-context.ts';
import { createLaneStore, type LaneId } from './lane-store.ts';
import { forgottenNfts } from './transaction-store.ts';

/** A signer and the network that it signs for. */
export type LaneSigner = { readonly chainId: string; readonly signer: MintSigner };

export type MintWorker = {
  readonly signers: readonly LaneSigner[];
  /** What to do about accepted mints: to look. */
  readonly job: KeyedJob;
  start(): Promise<void>;
  /** Ends after what each lane is at; what was signed is stored, so nothing is half done. */
  stop(): Promise<void>;
};

export type MintWorkerOptions = {
  readonly db: Database;
  /** A direct connection for notifications. */
  readonly databaseUrl: string;
  readonly networks: NetworkRegistry;
  readonly clients: RpcClients;
  readonly signers: readonly LaneSigner[];
  readonly jobs: JobSender;
  readonly settings: MintSettings;
  readonly log: Logger;
  /** Told of each step of each lane, for operators. */
  readonly observe: (lane: LaneId, ...told: Parameters<OnStep>) => void;
  readonly step?: OnStep;
  readonly now?: () => number;
};

const reconcileMs = 30_000;

/**
 * Works on the lanes of its signers. Any number of processes may have the same signers: each lane is with
 * one of them at a time, and passes to another when that one ends.
 */
export function createMintWorker(options: MintWorkerOptions): MintWorker {
  const { db, networks, clients, signers, jobs, settings, log } = options;
  const store = createLaneStore(db);
  const lanes: Lane[] = [];
  let listener: Listener | undefined;
  let reconciling: NodeJS.Timeout | undefined;

  const wakeAll = () => {
    for (const lane of lanes) lane.wake();
  };
  const reconcile = async () => {
    wakeAll();
    const ids = await forgottenNfts(db, reconcileMs / 1_000);
    await jobs.enqueue(mintQueue, ids);
  };

  return {
    signers,
    job: {
      queue: mintQueue,
      async handle() {
        wakeAll();
        // The lane may be with another process: tell all of them.
        if (lanes.some((lane) => !lane.isHeld())) await db.raw(`SELECT pg_notify('${channel}', '')`);
      },
    },
    async start() {
      for (const { chainId, signer } of signers) {
        const lane = { chainId, signer: signer.address };
        await store.register(lane);
        lanes.push(
          startLane({
            db,
            lanes: store,
            lane,
            signer,
            settings,
            log,
            step: stepOf(lane, options),
            now: options.now ?? (() => performance.now()),
            holder: `${hostname()} ${process.pid}`,
            findNetwork: (id) => networks.find(id),
            nodeOf: (network) => createMintNode(clients.for(network)),
          }),
        );
      }
      if (lanes.length === 0) return;
      const { databaseUrl: url } = options;
      listener = await createListener({ url, channels: [channel], log, onNotify: wakeAll, onGap: wakeAll });
      reconciling = setInterval(() => {
        reconcile().catch((err: unknown) => log.warn({ err }, 'mints could not be reconciled'));
      }, reconcileMs);
    },
    async stop() {
      clearInterval(reconciling);
      await Promise.all(lanes.map((lane) => lane.stop()));
      await listener?.close();
    },
  };
}

const stepOf =
  (lane: LaneId, { observe, step }: MintWorkerOptions): OnStep =>
  (...told) => {
    observe(lane, ...told);
    return step?.(...told);
  };
