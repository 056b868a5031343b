import type { Logger } from '../../../base/log.ts';
import type { Tracing } from '../../../base/span.ts';
import type { FinalBlock } from '../../../chain/finality-store.ts';
import { feesInWords } from '../../../chain/minting/fees.ts';
import type { MintNode } from '../../../chain/minting/mint-node.ts';
import type { MintSigner } from '../../../chain/minting/signer.ts';
import type { Network } from '../../../chain/rpc/client/network.ts';
import type { PinnedNode } from '../../../chain/rpc/pool/pinned-node.ts';
import type { Database } from '../../../contract/transaction.ts';
import type { Attempt } from '../stores/attempt-store.ts';
import type { LaneId, LaneLease } from '../stores/lane-store.ts';
import type { OpenTransaction } from '../stores/transaction-store.ts';
import type { LaneMemory } from './lane-memory.ts';

export type MintSettings = {
  /** The most that a unit of gas may cost, in wei. */
  readonly feeCap: bigint;
  /** The most transactions without a block that a signer may have. */
  readonly maxInFlight: number;
  /** The share of a block's gas that one transaction may take, in percent. */
  readonly blockShare: number;
  /** Blocks without the transaction after which it is replaced by one with higher fees. */
  readonly stuckBlocks: number;
  /** Time between two polls of the chain and the queue, unless a notification comes earlier. */
  readonly pollMs: number;
  /** Time after which a transaction without a block is broadcast again. */
  readonly rebroadcastMs: number;
  /** How long a process that shows no sign of life keeps a lane. */
  readonly leaseSeconds: number;
  /** After which an NFT that does not move needs a reason. */
  readonly standstillSeconds: number;
  /** How long the metadata of an RWA must not have changed before the change is reported; 0 reports none. */
  readonly refreshSeconds: number;
};

/** What a lane has just done. The steps of a transaction come in this order. */
export type MintStep =
  | 'taken'
  | 'watched'
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
  | 'proven'
  | 'refused'
  | 'paused'
  | 'resumed';

/** Details of a step. */
export type StepFacts = {
  readonly transaction?: string;
  readonly nonce?: string;
  readonly hash?: string;
  /** 1 for the first. */
  readonly attempt?: number;
  /** In wei, decimal. */
  readonly maxFeePerGas?: string;
  readonly maxPriorityFeePerGas?: string | undefined;
  readonly nftIds?: readonly string[];
  /** The RWA whose changed metadata the transaction reports. */
  readonly rwaId?: string;
  /** NFTs of the transaction that its newest attempt leaves out. */
  readonly leftOut?: number;
  readonly block?: string;
  /** For each NFT that became minted: seconds since its mint was accepted. */
  readonly waits?: readonly number[];
  /** NFTs that became failed. */
  readonly failed?: number;
  /** NFTs that were queued again for another transaction. */
  readonly released?: number;
  /** NFTs that a reorganisation took back. */
  readonly unminted?: number;
  readonly reason?: string;
  readonly detail?: string;
};

/** Called after each step; the lane awaits it. */
export type OnStep = (step: MintStep, facts: StepFacts) => Promise<void> | void;

/** Called after each step of any lane. */
export type StepObserver = (lane: LaneId, step: MintStep, facts: StepFacts) => void;

/** What a lane is made of, for as long as the process runs. */
export type LaneDeps = {
  /** Undefined without traces. */
  readonly tracing?: Tracing | undefined;
  readonly db: Database;
  readonly lane: LaneId;
  readonly signer: MintSigner;
  /** This process has no key of the signer. It watches and broadcasts what is stored, and signs nothing. */
  readonly watchOnly: boolean;
  readonly settings: MintSettings;
  readonly log: Logger;
  readonly step: OnStep;
  /** Milliseconds of a clock that never goes back. */
  readonly now: () => number;
  /** Names this process to operators. */
  readonly holder: string;
  readonly findNetwork: (chainId: string) => Promise<Network | undefined>;
  /** Compares the network's nodes and chooses a node that has the known final block. @throws NodesUnavailableError when none can be used */
  readonly pinNode: (network: Network, known: FinalBlock | undefined) => Promise<PinnedNode>;
};

/** What the parts of a lane work with during one poll. */
export type LaneContext = Pick<
  LaneDeps,
  'db' | 'signer' | 'watchOnly' | 'settings' | 'log' | 'step' | 'now'
> & {
  readonly lease: LaneLease;
  readonly network: Network;
  /** One node for the whole poll, so that no conclusion mixes the views of two; it broadcasts to all of them. */
  readonly node: MintNode;
  readonly memory: LaneMemory;
  /** Aborts when the lane is to stop; nothing new is begun from then on. */
  readonly stopping: AbortSignal;
};

/** The facts that name an attempt in steps and log lines. */
export const attemptFacts = (
  { id, nonce, rwaId = null }: Pick<OpenTransaction, 'id' | 'nonce'> & { readonly rwaId?: string | null },
  { number, hash, fees }: Omit<Attempt, 'sentAtBlock'>,
): StepFacts => ({
  transaction: id,
  ...(rwaId !== null && { rwaId }),
  nonce: nonce.toString(),
  attempt: number,
  hash,
  ...feesInWords(fees),
});

/** The facts that name a transaction: those of its newest attempt. */
export function transactionFacts(transaction: OpenTransaction): StepFacts {
  const [newest] = transaction.attempts;
  return attemptFacts(transaction, newest);
}
