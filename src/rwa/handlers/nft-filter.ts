import { inputInvalid } from '../../base/errors.ts';
import { parseAddress } from '../../chain/address.ts';
import type { NftFilter } from '../assets/nft-filter.ts';
import type { MintState } from '../assets/nft-row.ts';

type Query = {
  readonly claimed?: boolean | undefined;
  readonly claimStatus?: MintState | undefined;
  readonly updatedSince?: string | undefined;
  readonly owner?: string | undefined;
};

/** The filters that both lists of NFTs have. Contradicting filters select nothing. */
export function nftFilterOf(query: Query): NftFilter {
  return {
    claimed: query.claimed,
    mintState: query.claimStatus,
    updatedSince: query.updatedSince === undefined ? undefined : momentOf(query.updatedSince, 'updatedSince'),
    owner:
      query.owner === undefined
        ? undefined
        : parseAddress(query.owner, { in: 'query', name: 'owner' }).checksum,
  };
}

// The document checks the form of RFC 3339, but not the calendar: a Date turns February 30 into March 2.
export function momentOf(text: string, name: string): Date {
  const day = text.slice(0, 10);
  const midnight = new Date(`${day}T00:00:00Z`);
  const isInCalendar = !Number.isNaN(midnight.getTime()) && midnight.toISOString().startsWith(day);
  if (isInCalendar) return new Date(text.toUpperCase());
  const message = `${name} must be an RFC 3339 date or date-time that the calendar has, such as 2027-05-04T09:00:00Z`;
  throw inputInvalid([{ in: 'query', name, message }]);
}
