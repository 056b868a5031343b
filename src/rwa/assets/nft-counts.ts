import type { CountedRows } from '../../db/list-counts-store.ts';
import type { MintState } from './nft-row.ts';

export type NftFilter = {
  /** Only those of one RWA. */
  readonly rwaNumber?: bigint | undefined;
  /** True: only minted ones; false: all others. */
  readonly claimed?: boolean | undefined;
  readonly mintState?: MintState | undefined;
  /** Changed at this time or later. */
  readonly updatedSince?: Date | undefined;
};

/** The place of an NFT in the lists: by RWA, then serial. */
export type NftPlace = { readonly rwaNumber: bigint; readonly serial: bigint };

// As migration 0039 lays them out: 256 serials are one place, and an RWA has 2^32 places.
const serialShift = 8n;
const rwaShift = 32n;

/** The NFTs that a filter selects, but for when they changed, as they are counted. */
export const countedNfts = (companyId: string, { rwaNumber, ...filter }: NftFilter): CountedRows => ({
  ...{ list: 'nfts', companyId, facets: statesOf(filter) },
  ...(rwaNumber !== undefined && {
    places: { low: rwaNumber << rwaShift, high: (rwaNumber + 1n) << rwaShift },
  }),
});

/** The same by the time of their last change; of one RWA, only where it has a list of its own. */
export const countedChanges = (companyId: string, { rwaNumber, ...filter }: NftFilter): CountedRows => ({
  ...{ list: 'nft_changes', companyId, facets: statesOf(filter) },
  ...(rwaNumber !== undefined && { rwaNumber }),
});

/** Whether an NFT can be in a state that the filter wants: `claimed=false` and `minted` exclude each other. */
export const canMatch = (filter: NftFilter): boolean => statesOf(filter).length > 0;

/** The stretch of the list that an NFT stands in. */
export const stretchOf = ({ rwaNumber, serial }: NftPlace): bigint => {
  const [ofSerials, last] = [serial >> serialShift, (1n << rwaShift) - 1n];
  return (rwaNumber << rwaShift) + (ofSerials < last ? ofSerials : last);
};

/** The first NFT that may stand in a stretch of the list. */
export const firstOfStretch = (place: bigint): NftPlace => ({
  rwaNumber: place >> rwaShift,
  serial: (place & ((1n << rwaShift) - 1n)) << serialShift,
});

const allStates: readonly MintState[] = ['unclaimed', 'queued', 'submitted', 'minted', 'failed'];

const statesOf = ({ claimed, mintState }: NftFilter): MintState[] =>
  allStates.filter(
    (state) =>
      (claimed === undefined || (state === 'minted') === claimed) &&
      (mintState === undefined || state === mintState),
  );
