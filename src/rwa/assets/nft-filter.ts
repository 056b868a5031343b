import type { MintState } from './nft-row.ts';

export type NftFilter = {
  /** Only NFTs of one RWA. */
  readonly rwaNumber?: bigint | undefined;
  /** True: only minted NFTs; false: all others. */
  readonly claimed?: boolean | undefined;
  readonly mintState?: MintState | undefined;
  /** Changed at this time or later. */
  readonly updatedSince?: Date | undefined;
  /** EIP-55: only minted NFTs that this wallet owns. */
  readonly owner?: string | undefined;
};

/** The place of an NFT in the lists: by RWA, then serial. */
export type NftPlace = { readonly rwaNumber: bigint; readonly serial: bigint };

const allStates: readonly MintState[] = ['unclaimed', 'queued', 'submitted', 'minted', 'failed'];

/** The states that a filter selects: none where `claimed=false` and `minted` exclude each other. */
export const statesOf = ({ claimed, mintState }: NftFilter): readonly MintState[] =>
  allStates.filter(
    (state) =>
      (claimed === undefined || (state === 'minted') === claimed) &&
      (mintState === undefined || state === mintState),
  );
