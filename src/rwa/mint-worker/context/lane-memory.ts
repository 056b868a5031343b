import type { Refusal } from '../../../chain/minting/broadcast-error.ts';
import type { Market } from '../../../chain/minting/fees.ts';
import type { GasCost } from '../../../chain/minting/gas.ts';
import type { Pause } from '../stores/lane-store.ts';
import { createEvidenceMemory, type EvidenceMemory } from './evidence-memory.ts';
import type { Lineage } from './lineage.ts';
import type { Mined } from './mined.ts';
import type { NodeLimits } from './node-limits.ts';
import { createTurns, type Turns } from './turn-memory.ts';

/** A broadcast that every node refuses for good. */
type RefusedBroadcast = {
  /** Of the attempt. */
  readonly hash: string;
  readonly refusal: Refusal;
  /** The node's own words. */
  readonly words: string;
};

/** A look at the chain that must be confirmed by a later one before anything is concluded from it. */
type FirstLook<T> = {
  readonly seen: T;
  /** The newest block then. */
  readonly number: bigint;
  readonly hash: string;
};

/** Nothing is asked about it until then, in milliseconds of the lane's clock. */
type Unanswered = { readonly until: number; readonly pause: Pause };

type NextTransaction = {
  readonly id: string;
  /** The newest block when it was looked at. */
  readonly block: bigint;
  /** In milliseconds of the lane's clock. */
  readonly askAt: number;
  readonly waitMs: number;
};

type Ask = <T>(question: () => Promise<T>) => Promise<T>;

/** What is known of the comparison of contracts with the rows, before something is sent to them. */
type ComparedMemory = {
  /** Those that are compared as far as it takes. */
  readonly contracts: Set<string>;
  /** The newest block to be compared: it was final when the lane was taken. */
  to: bigint | undefined;
  /** The look that is being taken, and what it may ask. */
  look: { readonly hash: string; readonly at: number; readonly ask: Ask } | undefined;
};

/** What a lane remembers between polls. None of it must be kept: a lane that starts finds it out again. */
export type LaneMemory = {
  /** When each transaction was last broadcast, by its id; in milliseconds of the lane's clock. */
  readonly broadcastAt: Map<string, number>;
  /** The transaction that the chain takes next, and when the node is asked whether it has it; see `isForgotten`. */
  next: NextTransaction | undefined;
  /**
   * Transactions that are in a block, which is not confirmed yet, by their ids; null for one that is in none, while
   * its nonce is used for good.
   */
  readonly mined: Map<string, Mined | null>;
  /** The chain that the last poll has seen. */
  lineage: Lineage | undefined;
  readonly evidence: EvidenceMemory;
  /** Ids of transactions whose nonce is used according to a broadcast, though not to the transaction count. */
  readonly nonceUsed: Set<string>;
  /** What the node last answered to the broadcast of each transaction, by its id. */
  readonly answers: Map<string, string>;
  /** Ids of transactions whose last broadcast was refused for lack of funds. */
  readonly underfunded: Set<string>;
  /** Transactions whose last broadcast was refused for good, by their id. */
  readonly refused: Map<string, RefusedBroadcast>;
  /** Hashes of attempts to which nodes say that they pay too little, by the id of their transaction. */
  readonly underpriced: Map<string, string>;
  /** What those that fill a nonce for an operator offer while the cap allows no more: in wei, by their id. */
  readonly capped: Map<string, bigint>;
  /** NFTs whose recipient the contract refuses, with the block at which that was noticed. */
  readonly refusedAt: Map<string, bigint>;
  /** Why the signer does not sign, at the newest block. */
  signerFault: string | undefined;
  readonly turns: Turns;
  readonly compared: ComparedMemory;
  /** Why nothing was sent to contracts, in words as stored; empty when something was. */
  readonly contractPauses: Map<string, string>;
  /** What contracts were found to use, by their address. */
  readonly costs: Map<string, GasCost>;
  /** Contracts of which the nodes do not say what a mint would do, by their address. */
  readonly unanswered: Map<string, Unanswered>;
  /** Contracts that looked like none that mints, by their address. */
  readonly unfit: Map<string, FirstLook<string>>;
  /** What the nodes of the network take, as far as they have said so. */
  limits: NodeLimits;
  /** The market at a block. */
  market: { readonly hash: string; readonly market: Market } | undefined;
  /** A transaction count that is higher than it should be. */
  doubtedCount: FirstLook<bigint> | undefined;
  /** A transaction count above 0 of a lane that has stored no nonce. */
  firstCount: FirstLook<bigint> | undefined;
  /** The lowest nonce that is missing on the chain and in the store, and the one in flight above it. */
  gap: (FirstLook<bigint> & { readonly above: bigint }) | undefined;
  /** Hash of the newest block at which a gap was looked for. */
  gapLookedAt: string | undefined;
};

/** Forgets what is remembered of transactions that can no longer change. */
export function forgetOthers(memory: LaneMemory, open: ReadonlySet<string>): void {
  const { broadcastAt, mined, nonceUsed, answers, underfunded, underpriced, capped, refused } = memory;
  for (const known of [broadcastAt, mined, nonceUsed, answers, underfunded, underpriced, capped, refused]) {
    for (const id of known.keys()) if (!open.has(id)) known.delete(id);
  }
}

export const createLaneMemory = (): LaneMemory => ({
  broadcastAt: new Map(),
  next: undefined,
  mined: new Map(),
  lineage: undefined,
  evidence: createEvidenceMemory(),
  nonceUsed: new Set(),
  answers: new Map(),
  underfunded: new Set(),
  refused: new Map(),
  underpriced: new Map(),
  capped: new Map(),
  refusedAt: new Map(),
  signerFault: undefined,
  turns: createTurns(),
  compared: { contracts: new Set(), to: undefined, look: undefined },
  contractPauses: new Map(),
  costs: new Map(),
  unanswered: new Map(),
  unfit: new Map(),
  limits: {},
  market: undefined,
  doubtedCount: undefined,
  firstCount: undefined,
  gap: undefined,
  gapLookedAt: undefined,
});
