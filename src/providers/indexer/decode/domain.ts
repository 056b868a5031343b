/**
 * The domain model of a decoded block. Addresses and hashes are lower-case hex with `0x`; amounts are in the smallest
 * unit.
 */

/** Identifies a block and its place in the chain. */
export type BlockHeader = {
  readonly number: bigint;
  readonly hash: string;
  readonly parentHash: string;
  /** Seconds since 1970. */
  readonly timestamp: bigint;
};

/** A transfer of native value between two accounts, neither reverted nor zero. */
export type NativeMovement = {
  readonly from: string;
  readonly to: string;
  readonly value: bigint;
  /** Made by a contract's code, unlike the transaction's own value. */
  readonly internal: boolean;
};

/**
 * Why a transfer may be believed, where that is known. `TransferVerification` of the contract describes each value.
 */
export type Verification = 'signed' | 'approved' | 'state-checked' | 'forged';

/**
 * `wrap` comes from the deposit and withdrawal events of a wrapped native token. `fee` paid for the transaction
 * itself, on networks whose fees are paid in tokens.
 */
export type Erc20Movement = {
  readonly token: string;
  readonly from: string;
  readonly to: string;
  readonly value: bigint;
  readonly logIndex: number;
  readonly kind: 'transfer' | 'wrap' | 'fee';
  /** Left out where it is unknown, and where the sender of the transaction is the sender of the transfer. */
  readonly verification?: Verification;
  /** Whether its sender has no code, neither signed nor approved it, and never signed an approval of its token. */
  readonly unconsented?: true;
  /** The amount that the recipient got, where the contract was asked and the amount differs from the value. */
  readonly received?: bigint;
};

export type NftStandard = 'ERC721' | 'ERC1155';

export type NftMovement = {
  readonly token: string;
  readonly tokenId: bigint;
  readonly amount: bigint;
  readonly from: string;
  readonly to: string;
  readonly standard: NftStandard;
  /** The account that made the transfer; only ERC-1155 records it. */
  readonly operator: string | null;
  readonly batch: boolean;
  readonly logIndex: number;
  /** Index within the log, from 0: a batch moves several tokens. */
  readonly part: number;
  /** As of an {@link Erc20Movement}. */
  readonly verification?: Verification;
  readonly unconsented?: true;
};

/** `amount` of an ERC-20, one `token` of a collection, or `all` tokens of an owner. */
export type Approval = {
  readonly token: string;
  readonly owner: string;
  readonly spender: string;
  readonly kind: 'amount' | 'token' | 'all';
  /** The amount or the token id; 0 for `all`. */
  readonly value: bigint;
  /** False when it revokes an earlier approval. */
  readonly granted: boolean;
  readonly logIndex: number;
  /** Whether its owner signed neither the transaction nor a user operation in it. Any contract can log an approval. */
  readonly unsigned?: true;
  /** Whether the owner is known to be a contract, which signs nothing. */
  readonly isOfContract?: true;
  /** `state-checked` where the contract confirms an unsigned approval of an owner who knows the token. */
  readonly verification?: Verification;
};

/** EIP-7702: the account lets the code of a contract run as its own. Each is a step of the account's nonce. */
export type Delegation = {
  readonly authority: string;
  /** The contract; the zero address ends the delegation. */
  readonly delegate: string;
};

/** A log with a known topic and an unexpected shape, or one that its block had no room for. */
export type SkippedLog = {
  readonly logIndex: number;
  readonly address: string;
  readonly topic: string;
  readonly reason: string;
};

/** A contract announces that the metadata of a token changed, or of all its tokens where `tokenId` is undefined. */
export type MetadataChange = { readonly token: string; readonly tokenId: bigint | undefined };

/** An account that borrowed from a lending market, as the market logs it. */
export type Borrower = { readonly account: string; readonly logIndex: number };

/** The decoded logs of one transaction. */
export type LogFindings = {
  readonly erc20: readonly Erc20Movement[];
  readonly nft: readonly NftMovement[];
  readonly approvals: readonly Approval[];
  readonly borrowers: readonly Borrower[];
  readonly operations: readonly OperationEnd[];
};

/**
 * A log of an entry point (ERC-4337), up to which another account than the sender of the transaction acts. `signer` is
 * the account that signed the user operation; null before the first operation runs.
 */
export type OperationEnd = { readonly signer: string | null; readonly logIndex: number };

export type IndexedTransaction = Omit<LogFindings, 'operations' | 'borrowers'> & {
  /** Accounts that borrowed, and agreed to it. */
  readonly borrowers: readonly string[];
  readonly hash: string;
  readonly index: number;
  /** Null where the node does not report it. */
  readonly nonce: bigint | null;
  readonly from: string;
  /** Null when the transaction creates a contract. */
  readonly to: string | null;
  readonly created: string | null;
  readonly value: bigint;
  /** Null where the node does not report it. */
  readonly gas: bigint | null;
  /** The price that was paid per unit of gas; null where the node does not say. */
  readonly gasPrice: bigint | null;
  /** Null where the network has no receipt of the transaction. */
  readonly gasUsed: bigint | null;
  /**
   * The sum that was paid in the native asset in addition to the value: gas, blobs, the fees of a first layer and its
   * operator. Null where there is no receipt or price, or where the fee was paid in a token.
   */
  readonly fee: bigint | null;
  /** Whether the fee is null because the price of its blobs is unknown. */
  readonly isBlobFeeUnknown?: true;
  /** The account that paid the fee, where that was not the sender. The zero address means that the fee was paid in advance. */
  readonly feePayer: string | null;
  /** The percentage of the fee that this other account paid, where the sender paid the rest. */
  readonly feePayerPercent?: number;
  readonly succeeded: boolean;
  /** First four bytes of the input; null for a plain transfer and a creation. */
  readonly selector: string | null;
  readonly native: readonly NativeMovement[];
  readonly delegations: readonly Delegation[];
  /** Indexes of the logs that name a sender or an owner who did not sign, in order. */
  readonly suspects: readonly number[];
  /** The same of senders who log or are called themselves: contracts, and accounts with a delegate. */
  readonly loudSuspects: readonly number[];
  /** How many calls contracts made in it, also failed calls; null where it was not traced. */
  readonly internalCalls: number | null;
};

/** What the protocol credits to an account outside of transactions, in the smallest unit of the native asset. */
export type BlockCredit = {
  readonly wallet: string;
  /**
   * A `withdrawal` of a stake, or `fees` above the base fee for the beneficiary. A `block` of proof of work has a
   * reward, which includes the uncles that it names. So has each `uncle`.
   */
  readonly kind: 'withdrawal' | 'fees' | 'block' | 'uncle';
  readonly amount: bigint;
  /** Index among the credits of the block, from 0. */
  readonly place: number;
  /** Of a withdrawal. */
  readonly validatorIndex: bigint | null;
  readonly withdrawalIndex: bigint | null;
};

export type IndexedBlock = {
  readonly header: BlockHeader;
  readonly transactions: readonly IndexedTransaction[];
  readonly skipped: readonly SkippedLog[];
  readonly metadataChanges: readonly MetadataChange[];
  /** Whether internal movements are known. Otherwise `native` has only the values of the transactions themselves. */
  readonly traced: boolean;
  /** Whether receipts lack logs that their bloom filters promise. */
  readonly isIncomplete: boolean;
  /** Number of transactions that the network lists but has no receipt of. */
  readonly withoutReceipt: number;
  /** Number of transactions of a rollup whose receipts lack the fee of the first layer. */
  readonly partialFees: number;
  /** Number of withdrawals of stakes, which the protocol credits without a transaction. */
  readonly withdrawals: number;
  readonly credits: readonly BlockCredit[];
  /** Whether everything that was paid for making the block is among the credits. */
  readonly rewardsKnown: boolean;
};

/** Null where the contract does not report it, or reports nothing sensible. */
export type ContractText = {
  readonly name: string | null;
  readonly symbol: string | null;
  readonly decimals: number | null;
};
