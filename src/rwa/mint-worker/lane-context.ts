import type { MintNode } from '../../chain/minting/mint-node.ts';
import type { MintSigner } from '../../chain/minting/signer.ts';
import type { Network } from '../../chain/network.ts';
import type { Database } from '../../contract/transaction.ts';
import type { Logger } from '../../log.ts';
import type { LaneStore, Lease } from './lane-store.ts';

export type MintSettings = {
  /** What a unit of gas may cost at most, in wei. */
  readonly feeCap: bigint;
  /** Transactions without a block that a signer may have. */
  readonly maxInFlight: number;
  /** Of a block's gas that one transaction may take, in percent. */
  readonly blockShare: number;
  /** Blocks without the transaction after which its fees are raised. */
  readonly stuckBlocks: number;
  /** Time between looks at the chain and at what waits, where nothing wakes the lane. */
  readonly pollMs: number;
  /** Time after which a transaction without a block is handed to the nodes again. */
  readonly rebroadcastMs: number;
  /** How long a lane stays with a process that shows no sign of life. */
  readonly leaseSeconds: number;
};

/** What a lane has just done; in this order for each transaction, as far as it gets. */
export type MintStep =
  | 'taken'
  | 'signed'
  | 'stored'
  | 'sent'
  | 'raise_stored'
  | 'raise_sent'
  | 'rebroadcast'
  | 'mined'
  | 'confirming'
  | 'confirmed'
  | 'reorganised'
  | 'finalized'
  | 'released'
  | 'reverted'
  | 'refused'
  | 'paused'
  | 'resumed';

/** What there is to say of a step. */
export type StepFacts = {
  readonly transaction?: string;
  readonly nonce?: string;
  readonly hash?: string;
  /** 1 for the first sending. */
  readonly attempt?: number;
  /** In wei, decimal. */
  readonly maxFeePerGas?: string;
  readonly maxPriorityFeePerGas?: string | undefined;
  readonly nftIds?: readonly string[];
  readonly block?: string;
  /** Of each NFT that counts as minted now: seconds since it was accepted. */
  readonly waits?: readonly number[];
  /** NFTs that count as failed now. */
  readonly failed?: number;
  /** NFTs that wait for another transaction. */
  readonly released?: number;
  /** NFTs that count as minted no more. */
  readonly unminted?: number;
  readonly reason?: string;
  readonly detail?: string;
};

/** Told of each step; the lane waits for it. */
export type OnStep = (step: MintStep, about: StepFacts) => Promise<void> | void;

/** What every part of a lane works with, for as long as its lease. */
export type LaneContext = {
  readonly db: Database;
  readonly lanes: LaneStore;
  readonly lease: Lease;
  readonly network: Network;
  readonly node: MintNode;
  readonly signer: MintSigner;
  readonly settings: MintSettings;
  readonly log: Logger;
  readonly step: OnStep;
  /** Milliseconds that only grow. */
  readonly now: () => number;
  readonly memory: LaneMemory;
  /** Aborted when the lane is to end: then nothing new is begun. */
  readonly stopping: AbortSignal;
};

/** What a lane remembers between two looks. All of it can be forgotten: it is found out again. */
export type LaneMemory = {
  /** When each transaction was last handed to the nodes, by its id. */
  readonly sentAt: Map<string, number>;
  /** Transactions that have a block, which is not deep enough yet. */
  readonly mined: Set<string>;
  /** Transactions whose nonce a node says is used, though its count did not tell so. */
  readonly suspects: Set<string>;
  /** Transactions that a node refused for want of money, the last time that it was given them. */
  readonly unpaid: Set<string>;
  /** NFTs whose recipient the contract refuses though it mints to others, with the block at which that was noticed. */
  readonly refused: Map<string, bigint>;
};

export const createLaneMemory = (): LaneMemory => ({
  sentAt: new Map(),
  mined: new Set(),
  suspects: new Set(),
  unpaid: new Set(),
  refused: new Map(),
});
