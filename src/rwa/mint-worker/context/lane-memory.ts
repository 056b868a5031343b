import type { MintEvent } from '../../../chain/minting/evidence-node.ts';
import type { Market } from '../../../chain/minting/fees.ts';
import type { GasCost } from '../../../chain/minting/gas.ts';
import { createLogWidth, type LogWidth } from '../../../chain/minting/log-scan.ts';
import type { Block, Receipt } from '../../../chain/minting/mint-node.ts';
import type { Lineage } from './lineage.ts';
import type { Rests } from './rests.ts';

/** A nonce that no node takes, whatever its attempt. */
export type Refused = {
  /** How often in a row. */
  readonly looks: number;
  /** The nodes' own words, or why none answered. */
  readonly words: string;
  /** Whether the words are a node's answer to the transaction. */
  readonly isAnswer: boolean;
  /** No more is offered without a figure of a node or the operator. */
  readonly isExhausted?: boolean;
  /** Since when its last attempt is rejected, in polls that could ask the chain; the newest of them, by the lane's clock. */
  readonly lasting?: { readonly at: number; readonly block: bigint; readonly polledAt: number };
};

/** What nodes accept, as far as rejections have shown it. Each part ends by itself. */
type Learned = {
  /** The least priority fee, in wei. */
  tip?: Until & { readonly least: bigint };
  /** The most NFTs of a transaction, by contract. */
  readonly tokens: Map<string, Until & { readonly most: number }>;
  /** Only transactions of the oldest type are taken. */
  legacy?: Until;
};

/** In milliseconds of the lane's clock. */
type Until = { readonly until: number };

/** What a poll has read from the chain. A later poll must confirm it before the lane concludes anything from it. */
type FirstLook<T> = {
  readonly seen: T;
  /** The newest block then. */
  readonly number: bigint;
  readonly hash: string;
};

/** The search for the mints of the NFTs of a transaction. Each poll resumes it until it has ended. */
export type MintSearch = {
  readonly tokenIds: readonly string[];
  /** The newest mint of each token in the searched blocks. */
  readonly found: Map<string, MintEvent>;
  /** The searched blocks, which are final; undefined before the first poll. */
  searched: { from: bigint; to: bigint } | undefined;
};

/** The receipt of a transaction and the block of the chain that includes it. */
export type Mined = { readonly receipt: Receipt; readonly block: Block };

/** With the RWA whose changed metadata it reports. */
type MinedByUs = Mined & { readonly rwaId: string | null };

type Ask = <T>(question: () => Promise<T>) => Promise<T>;

/** What is known of the comparison of contracts with the rows, before something is sent to them. */
type ComparedMemory = {
  /** Those that are compared as far as it takes. */
  readonly contracts: Set<string>;
  /** The newest block to be compared: it was final when the lane was taken. */
  to: bigint | undefined;
  /** The block at which contracts are compared, and what may still be asked. */
  look: { readonly hash: string; readonly at: number; readonly ask: Ask } | undefined;
};

/** What a lane remembers of a transaction that can still change. */
export type TransactionMemory = {
  /** When it was last broadcast, in milliseconds of the lane's clock; undefined when it is to be broadcast at once. */
  broadcastAt?: number | undefined;
  /** What the nodes last answered to a broadcast. */
  answer?: string;
  /** Its nonce is used according to a broadcast, though not to the transaction count. */
  isNonceUsed?: boolean;
  /** Nodes rejected it, and the signer cannot pay for it. */
  isUnderfunded?: boolean;
  /** How often in a row the node did not have it, though it is the next on the chain and has waited for long. */
  missing?: number;
  /** Its last broadcast was rejected. */
  refused?: Refused | undefined;
  /** Earlier nonces were not in blocks yet at the last poll. */
  isAhead?: boolean;
  /** Why its price stays below the market, in words. */
  tooDear?: string | undefined;
  /** The block that it is in, which is not confirmed yet; null when it is in none, while its nonce is used for good. */
  mined?: MinedByUs | null | undefined;
  /**
   * It waits until the use of its nonce is final, as the last check of the chain has shown. That is so too when a contract
   * reverted it or passed its NFTs over.
   */
  isSettling?: boolean;
};

/** What a lane remembers between polls. A lane that starts finds all of it again. */
export type LaneMemory = {
  /** By their ids. */
  readonly transactions: Map<string, TransactionMemory>;
  /** The chain that the last poll has seen. */
  lineage: Lineage | undefined;
  /** How many blocks nodes give at once. */
  readonly width: LogWidth;
  /** Searches that have begun, by the id of the transaction whose NFTs they are for. */
  readonly searches: Map<string, MintSearch>;
  readonly rests: Rests;
  /** The block at which a contract was last found to mint to somebody, by its address. */
  readonly mintsAt: Map<string, string>;
  /** Why the signer does not sign, at the newest block. */
  signerFault: string | undefined;
  readonly compared: ComparedMemory;
  /** What contracts were found to use, by their address. */
  readonly costs: Map<string, GasCost>;
  /** What one poll has seen of a subject, and a later poll must see again; see `isSeenTwice`. */
  readonly firstLooks: Map<string, FirstLook<string>>;
  /** NFTs that another transaction of the database had locked when they were to be stored, by their ids. */
  locked: readonly string[];
  /** Hash of the newest block when the lane last waited in vain for a locked row. */
  waitedAt: string | undefined;
  /** What the nodes of the network accept, as far as rejections have shown it. */
  readonly learned: Learned;
  /** The newest final block at which the nonces of the lane that had ended were there. */
  countedAt: bigint | undefined;
  /** The market at a block. */
  market: { readonly hash: string; readonly market: Market } | undefined;
  /** The lowest nonce that is missing on the chain and in the store, and the one in flight above it. */
  gap: (FirstLook<bigint> & { readonly above: bigint }) | undefined;
  /** Hash of the newest block at which the lane checked for a gap. */
  gapLookedAt: string | undefined;
};

/** What is remembered of a transaction, to be changed. */
export function memoryOf({ transactions }: LaneMemory, id: string): TransactionMemory {
  const known = transactions.get(id) ?? {};
  transactions.set(id, known);
  return known;
}

/** Forgets transactions that can no longer change, and which of the others settle. */
export function beginLook({ transactions }: LaneMemory, open: ReadonlySet<string>): void {
  for (const [id, known] of transactions) {
    if (open.has(id)) known.isSettling = false;
    else transactions.delete(id);
  }
}

export const createLaneMemory = (): LaneMemory => ({
  transactions: new Map(),
  lineage: undefined,
  width: createLogWidth(),
  searches: new Map(),
  rests: new Map(),
  mintsAt: new Map(),
  signerFault: undefined,
  compared: { contracts: new Set(), to: undefined, look: undefined },
  costs: new Map(),
  firstLooks: new Map(),
  locked: [],
  waitedAt: undefined,
  learned: { tokens: new Map() },
  countedAt: undefined,
  market: undefined,
  gap: undefined,
  gapLookedAt: undefined,
});
