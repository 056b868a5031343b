import type { MintEvent } from '../../../chain/minting/mint-history.ts';

/** Asks one question. @throws when no more may be asked; what the question throws */
export type Ask = <T>(question: () => Promise<T>) => Promise<T>;

/** A range of blocks, and how far it is compared. */
export type Stretch = {
  readonly from: bigint;
  readonly to: bigint;
  /** Of the newest block, as long as that is not final. */
  readonly hash: string | undefined;
  /** The newest block that was not asked for yet. */
  next: bigint;
  /** Mints above it that are not compared yet. */
  mints: readonly MintEvent[];
};

/** The search of one contract: what is final once, and anew what is not when the chain changes. */
export type PastSearch = {
  readonly final: Stretch;
  recent: Stretch | undefined;
  /** The first block of the contract; undefined until it is needed. */
  origin: bigint | undefined;
  questions: number;
};

/** What a lane remembers of its searches; it begins anew when another process takes the lane. */
export type PastMemory = {
  /** Searches before something is sent to a contract for the first time, by its address. */
  readonly claims: Searches;
  /** How many blocks the node gives at once. */
  width: bigint;
  /** The look that is being taken, and what it may ask. */
  look: { readonly hash: string; readonly at: number; readonly ask: Ask } | undefined;
  /** Contracts that are left of a search over all of them, and what that is for. */
  run: { readonly purpose: string; readonly left: string[]; readonly searches: Searches } | undefined;
};

/** Searches that are under way, by the contract. */
export type Searches = Map<string, PastSearch>;

/** What most hosted nodes give at once. */
export const widest = 10_000n;

export const createPastMemory = (): PastMemory => ({
  claims: new Map(),
  width: widest,
  look: undefined,
  run: undefined,
});
