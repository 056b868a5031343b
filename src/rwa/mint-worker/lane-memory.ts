import { createEvidenceMemory, type EvidenceMemory } from './watch/evidence-memory.ts';
import type { Lineage } from './watch/lineage.ts';
import type { Mined } from './watch/mined.ts';

/** What a lane remembers between polls. None of it must be kept: a lane that starts finds it out again. */
export type LaneMemory = {
  /** When each transaction was last broadcast, by its id; in milliseconds of the lane's clock. */
  readonly broadcastAt: Map<string, number>;
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
  /** Ids of transactions whose last broadcast was refused for lack of funds. */
  readonly underfunded: Set<string>;
  /** NFTs whose recipient the contract refuses, with the block at which that was noticed. */
  readonly refusedAt: Map<string, bigint>;
};

export const createLaneMemory = (): LaneMemory => ({
  broadcastAt: new Map(),
  mined: new Map(),
  lineage: undefined,
  evidence: createEvidenceMemory(),
  nonceUsed: new Set(),
  underfunded: new Set(),
  refusedAt: new Map(),
});
