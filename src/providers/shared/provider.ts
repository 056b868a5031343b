import type { Network } from '../../chain/rpc/client/network.ts';
import type { components } from '../../contract/generated/blockchain.ts';

export type HistoryRecord = components['schemas']['WalletHistoryRecord'];
export type WalletCredit = components['schemas']['WalletCredit'];
export type WalletToken = components['schemas']['WalletToken'];
export type LiveApproval = components['schemas']['LiveApproval'];
export type NftEntry = components['schemas']['WalletNft'];
export type SortOrder = components['schemas']['SortOrder'];

type Question = {
  readonly network: Network;
  /** The wallet, in lower case. */
  readonly address: string;
  readonly order: SortOrder;
  /** Greatest number of entries on the page, 1 to 100. */
  readonly limit: number;
  /** Where the page begins, in the provider's own format: the previous page's `next`; undefined for the first page. */
  readonly position: string | undefined;
};

/** The filters of a history: a record fits all filters. Addresses are in lower case; ranges include their ends. */
export type HistoryFilter = {
  readonly fromBlock?: bigint;
  readonly toBlock?: bigint;
  readonly fromDate?: Date;
  readonly toDate?: Date;
  /** A record fits any category of the list. */
  readonly category?: readonly HistoryRecord['category'][];
  /** Applies, with `token` and `counterparty`, of one and the same transfer. */
  readonly direction?: 'send' | 'receive';
  /** Contracts; a record fits any contract of the list. */
  readonly token?: readonly string[];
  readonly counterparty?: string;
  /** Only ever false: suspected spam is left out. */
  readonly includeSpam?: false;
  /** The kinds of entries to list; transactions alone where it is absent. */
  readonly entries?: readonly components['schemas']['HistoryEntryKind'][];
};

/** What narrows an NFT list. */
export type NftListFilter = {
  /** The state of the wallet after this block, or after the last block of this moment. */
  readonly toBlock?: bigint;
  readonly toDate?: Date;
  /** In lower case; an NFT fits any contract of the list. */
  readonly contract?: readonly string[];
  readonly includeSpam?: false;
};

export type HistoryQuestion = Question & { readonly filter?: HistoryFilter };
export type NftQuestion = Question & { readonly filter?: NftListFilter };

/** A list without an order. */
export type ListQuestion = Omit<Question, 'order'> & {
  readonly filter?: { readonly includeSpam?: false };
};

/** A page of a list; it may have fewer entries than were asked for although more follow. */
type ListPage<Entry> = {
  readonly entries: readonly Entry[];
  readonly next: string | undefined;
  /** Undefined where the provider does not know it. */
  readonly completeTo?: Freshness;
  readonly coverage?: Coverage;
  /** How many entries the provider sent that could not be read. */
  readonly leftOut?: number;
};
export type TokenPage = ListPage<WalletToken>;
export type WalletNftPage = ListPage<NftEntry>;
export type ApprovalPage = ListPage<LiveApproval>;

type SeenBlock = Pick<Freshness, 'blockNumber' | 'blockTime'>;
/** The first and the last block with a record of a wallet. */
export type Seen = { readonly first: SeenBlock; readonly last: SeenBlock };

/** The balance of a wallet next to the sum of its history. */
export type Reconciled = {
  readonly body: Omit<components['schemas']['WalletReconciliation'], 'coverage'>;
  readonly completeTo: Freshness | undefined;
  readonly coverage: Coverage | undefined;
};

/** The newest block that an answer takes into account. */
export type Freshness = {
  readonly blockNumber: bigint;
  /** In lower case. */
  readonly blockHash: string;
  readonly blockTime: Date;
};

/** The whole of an index: its coverage up to its newest block. */
export type Covered = Coverage & { readonly toBlock: bigint };

/** What an index knows and what it does not, within the range of an answer. */
export type Coverage = {
  /** The first indexed block. */
  readonly fromBlock: bigint;
  /** The newest block of the answer, where that is not the newest one of the index. */
  readonly toBlock?: bigint;
  /** Of how many indexed blocks movements inside transactions are known. */
  readonly traces: 'all' | 'some' | 'none';
  /** Blocks of the range that were left out, in ascending order; at most 100. */
  readonly skippedBlocks: readonly bigint[];
  /** Movements of the network that are in no transaction, as far as they were seen. */
  readonly outsideTransactions: readonly ('withdrawals' | 'rewards')[];
  /** Of how many indexed blocks the rewards are known. */
  readonly rewards: components['schemas']['RewardCoverage'];
  /** From which block on credits, approvals and sums are kept; undefined while none is. */
  readonly ledgerFrom: bigint | undefined;
  /** Of an NFT list: whether amounts count what the wallet had before the first block. */
  readonly nftAmounts?: 'whole' | 'since_start';
};

export type HistoryPage = {
  readonly records: readonly HistoryRecord[];
  /** Only where the filter asks for them; in the order of the page. */
  readonly credits?: readonly WalletCredit[];
  /** Printable ASCII, at most {@link maxPositionLength} characters; undefined on the last page. */
  readonly next: string | undefined;
  /** Undefined where the provider does not know it. */
  readonly completeTo?: Freshness;
  readonly coverage?: Coverage;
  /** As of a list. */
  readonly leftOut?: number;
};

/** Serves wallet histories and NFT lists of networks. */
export type DataProvider = {
  /** By what it can narrow its lists. It is never asked for anything else. */
  readonly filters: {
    readonly history: readonly (keyof HistoryFilter)[];
    readonly nfts: readonly (keyof NftListFilter)[];
  };
  /**
   * One page of the wallet's transactions, from the wallet's point of view, in the requested order.
   * @throws problem `history_unavailable`, with a cause that is safe for the log
   */
  history(question: HistoryQuestion): Promise<HistoryPage>;
  /**
   * One page of the NFTs that the wallet owns. Not every provider supports the order.
   * @throws problem `nfts_unavailable`, with a cause that is safe for the log
   */
  nfts(question: NftQuestion): Promise<WalletNftPage>;
  /**
   * One page of the ERC-20 tokens that the wallet has.
   * @throws problem `tokens_unavailable`, with a cause that is safe for the log
   */
  tokens(question: ListQuestion): Promise<TokenPage>;
  /**
   * Where the wallet was seen among these networks, by chain id.
   * @throws problem `history_unavailable`, with a cause that is safe for the log
   */
  seen(networks: readonly Network[], address: string): Promise<ReadonlyMap<string, Seen>>;
  /** Only of a provider that keeps every movement itself. */
  readonly ledger?: {
    /** What the index of each network covers, by chain id; nothing of a network without an indexed block. */
    coverage(chainIds: readonly string[]): Promise<ReadonlyMap<string, Covered>>;
    /** @throws problem `approvals_unavailable`, with a cause that is safe for the log */
    approvals(question: ListQuestion): Promise<ApprovalPage>;
    /** @param asOf undefined for the newest block @throws problem `balance_unavailable`, or one that names `asOf` */
    reconciliation(
      question: Pick<Question, 'network' | 'address'>,
      asOf: bigint | undefined,
    ): Promise<Reconciled>;
  };
};

/** Fits into a cursor, which has at most 4096 characters by the contract, next to the longest filter. */
export const maxPositionLength = 2_200;

/** Every category. The index stores them by their places. So new categories come at the end, and none is ever moved. */
export const historyCategories = [
  'send',
  'receive',
  'token send',
  'token receive',
  'nft send',
  'nft receive',
  'token swap',
  'deposit',
  'withdraw',
  'nft purchase',
  'nft sale',
  'airdrop',
  'mint',
  'burn',
  'borrow',
  'approve',
  'revoke',
  'contract interaction',
] as const satisfies readonly HistoryRecord['category'][];
