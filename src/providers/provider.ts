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
  /** At most this many on the page, 1 to 100. */
  readonly limit: number;
  /** Where the page begins, in the provider's own words: the `next` of the page before. None on the first. */
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
  /** Only from a provider that knows it. */
  readonly completeTo?: Freshness;
};

export type NftPage = {
  readonly entries: readonly NftEntry[];
  readonly next: string | undefined;
  readonly completeTo?: Freshness;
};

/** Who serves wallet histories and NFT lists of a network. */
export type DataProvider = {
  /**
   * One page of what the wallet did, as seen by the wallet, in the order that was asked for.
   * @throws problem `history_unavailable`, its cause fit for the log
   */
  history(question: HistoryQuestion): Promise<HistoryPage>;
  /**
   * One page of the NFTs that the wallet owns. Not every provider can order them.
   * @throws problem `nfts_unavailable`, its cause fit for the log
   */
  nfts(question: NftQuestion): Promise<NftPage>;
};

/** A cursor of at most 4096 characters, as the contract says, has room for this much. */
export const maxPositionLength = 3_000;
