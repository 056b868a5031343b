import { problem } from '../errors.ts';
import type { MintState, NftFilter } from './nft-store.ts';

type Query = {
  readonly claimed?: boolean | undefined;
  readonly claimStatus?: MintState | undefined;
  readonly updatedSince?: string | undefined;
};

/** The filters that both NFT listings have. Filters that contradict each other select nothing. */
export function nftFilterOf(query: Query): NftFilter {
  return {
    claimed: query.claimed,
    mintState: query.claimStatus,
    updatedSince: query.updatedSince === undefined ? undefined : momentOf(query.updatedSince),
  };
}

function momentOf(text: string): Date {
  const moment = new Date(text);
  if (!Number.isNaN(moment.getTime())) return moment;
  // RFC 3339 has forms that a Date has not, such as leap seconds.
  const message = 'updatedSince must be an RFC 3339 date-time with an offset';
  const errors = [{ in: 'query' as const, name: 'updatedSince', message }];
  throw problem('input_invalid', {}, { detail: message, errors });
}
