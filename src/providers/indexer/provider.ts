import type { Network } from '../../chain/network.ts';
import type { components } from '../../contract/generated/blockchain.ts';

export type HistoryRecord = components['schemas']['WalletHistoryRecord'];
export type NftEntry = components['schemas']['WalletNft'];

/** A page of a wallet's list, asked for. */
export type PageQuestion = {
  readonly network: Network;
  /** In lower case. */
  readonly address: string;
  readonly order: 'ASC' | 'DESC';
  readonly limit: number;
  /** Where the page before ended, as it was told; undefined for the first page. */
  readonly position: string | undefined;
};

/** The block that an answer is complete to. */
export type Freshness = {
  readonly blockNumber: bigint;
  readonly blockHash: string;
  readonly blockTime: Date;
};

export type HistoryAnswer = {
  readonly records: readonly HistoryRecord[];
  /** Position of the next page; undefined on the last. */
  readonly next: string | undefined;
  readonly completeTo: Freshness;
};

export type NftAnswer = {
  readonly entries: readonly NftEntry[];
  readonly next: string | undefined;
  readonly completeTo: Freshness;
};
