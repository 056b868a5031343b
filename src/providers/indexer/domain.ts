/**
 * What a block means, in our own words. Addresses and hashes are lower-case hex with `0x`, amounts are in the
 * smallest unit.
 */

/** How a block is named and where it stands. */
export type BlockHeader = {
  readonly number: bigint;
  readonly hash: string;
  readonly parentHash: string;
  /** Seconds since 1970. */
  readonly timestamp: bigint;
};

/** Native value that went from one account to another; reverted movements and those of zero are none. */
export type NativeMovement = {
  readonly from: string;
  readonly to: string;
  readonly value: bigint;
  /** Made by code, in contrast to the transaction's own value. */
  readonly internal: boolean;
};

/** `wrap` comes from the deposit and withdrawal events of a wrapped native token. */
export type Erc20Movement = {
  readonly token: string;
  readonly from: string;
  readonly to: string;
  readonly value: bigint;
  readonly logIndex: number;
  readonly kind: 'transfer' | 'wrap';
};

export type NftStandard = 'ERC721' | 'ERC1155';

export type NftMovement = {
  readonly token: string;
  readonly tokenId: bigint;
  readonly amount: bigint;
  readonly from: string;
  readonly to: string;
  readonly standard: NftStandard;
  /** Who made the transfer; only ERC-1155 tells. */
  readonly operator: string | null;
  readonly batch: boolean;
  readonly logIndex: number;
  /** Place within the log, from 0: a batch moves several tokens. */
  readonly part: number;
};

/** `amount` of an ERC-20, one `token` of a collection, or `all` tokens of an owner. */
export type Approval = {
  readonly token: string;
  readonly owner: string;
  readonly spender: string;
  readonly kind: 'amount' | 'token' | 'all';
  /** The amount or the token id; 0 for `all`. */
  readonly value: bigint;
  /** False when it takes an earlier approval back. */
  readonly granted: boolean;
  readonly logIndex: number;
};

/** A log with a topic that we know and a shape that we do not. */
export type SkippedLog = {
  readonly logIndex: number;
  readonly address: string;
  readonly topic: string;
  readonly reason: string;
};

/** A contract tells that what it says of a token changed, or of all its tokens where `tokenId` is undefined. */
export type MetadataChange = { readonly token: string; readonly tokenId: bigint | undefined };

/** What the logs of one transaction say. */
export type LogFindings = {
  readonly erc20: readonly Erc20Movement[];
  readonly nft: readonly NftMovement[];
  readonly approvals: readonly Approval[];
  /** Accounts that borrowed from a lending market. */
  readonly borrowers: readonly string[];
  readonly metadataChanges: readonly MetadataChange[];
  readonly skipped: readonly SkippedLog[];
};

export type IndexedTransaction = Omit<LogFindings, 'skipped' | 'metadataChanges'> & {
  readonly hash: string;
  readonly index: number;
  readonly nonce: bigint;
  readonly from: string;
  /** Null when the transaction creates a contract. */
  readonly to: string | null;
  readonly created: string | null;
  readonly value: bigint;
  readonly gas: bigint;
  /** What was paid per unit of gas. */
  readonly gasPrice: bigint;
  readonly gasUsed: bigint;
  /** Everything that the sender paid beside the value: gas, blobs and the share of a first layer. */
  readonly fee: bigint;
  readonly succeeded: boolean;
  /** First four bytes of the input; null for a plain transfer and a creation. */
  readonly selector: string | null;
  readonly native: readonly NativeMovement[];
};

export type IndexedBlock = {
  readonly header: BlockHeader;
  readonly transactions: readonly IndexedTransaction[];
  readonly skipped: readonly SkippedLog[];
  readonly metadataChanges: readonly MetadataChange[];
  /** Whether internal movements are known; without it only those of the transactions themselves are. */
  readonly traced: boolean;
};

export const zeroAddress = '0x0000000000000000000000000000000000000000';
