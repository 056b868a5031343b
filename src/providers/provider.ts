import type { Network } from '../chain/network.ts';
import type { components } from '../contract/generated/blockchain.ts';

export type HistoryRecord = components['schemas']['WalletHistoryRecord'];
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
  /** Number of the page, counted from 0. */
  readonly page: number;
};

export type HistoryQuestion = Question;
export type NftQuestion = Question;

/** The newest block that an answer takes into account. */
export type Freshness = {
  readonly blockNumber: bigint;
  /** In lower case. */
  readonly blockHash: string;
  readonly blockTime: Date;
};

export type HistoryPage = {
  readonly records: readonly HistoryRecord[];
  /** Printable ASCII, at most {@link maxPositionLength} characters; undefined on the last page. */
  readonly next: string | undefined;
  /** Undefined where the provider does not know it. */
  readonly completeTo?: Freshness;
};

export type NftPage = {
  readonly entries: readonly NftEntry[];
  readonly next: string | undefined;
  readonly completeTo?: Freshness;
};

/** Serves wallet histories and NFT lists of networks. */
export type DataProvider = {
  /**
   * One page of the wallet's transactions, from the wallet's point of view, in the requested order.
   * @throws problem `history_unavailable`, with a cause that is safe for the log
   */
  history(question: HistoryQuestion): Promise<HistoryPage>;
  /**
   * One page of the NFTs that the wallet owns. Not every provider supports the order.
   * @throws problem `nfts_unavailable`, with a cause that is safe for the log
   */
  nfts(question: NftQuestion): Promise<NftPage>;
};

/** Fits into a cursor, which has at most 4096 characters by the contract. */
export const maxPositionLength = 3_000;
