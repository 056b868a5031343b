/** What a lane remembers between polls. None of it must be kept: a lane that starts finds it out again. */
export type LaneMemory = {
  /** When each transaction was last broadcast, by its id; in milliseconds of the lane's clock. */
  readonly broadcastAt: Map<string, number>;
  /** Ids of transactions that are in a block, which is not confirmed yet. */
  readonly mined: Set<string>;
  /** Ids of transactions whose nonce is used according to a broadcast, though not to the transaction count. */
  readonly nonceUsed: Set<string>;
  /** What the node last answered to the broadcast of each transaction, by its id. */
  readonly answers: Map<string, string>;
  /** Ids of transactions whose last broadcast was refused for lack of funds. */
  readonly underfunded: Set<string>;
  /** NFTs whose recipient the contract refuses, with the block at which that was noticed. */
  readonly refusedAt: Map<string, bigint>;
  /** Until when a contract need not be looked at before something is sent to it; in milliseconds of the lane's clock. */
  readonly claimed: Map<string, number>;
};

export const createLaneMemory = (): LaneMemory => ({
  broadcastAt: new Map(),
  mined: new Set(),
  nonceUsed: new Set(),
  answers: new Map(),
  underfunded: new Set(),
  refusedAt: new Map(),
  claimed: new Map(),
});
