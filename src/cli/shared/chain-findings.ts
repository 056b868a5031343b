import type { Disagreement } from '../../rwa/minting/compare/compare-page.ts';
import type { OwnerFinding } from '../../rwa/ownership/verify-owners.ts';

/** The columns of what chain and rows do not say alike. */
export const findingColumns = {
  chainId: 'CHAIN',
  contract: 'CONTRACT',
  tokenId: 'TOKEN',
  nftId: 'NFT',
  kind: 'KIND',
  detail: 'DETAIL',
};

/** So many findings are printed at most; the count has all findings. */
export const mostFindings = 10_000;

type Finding = Pick<Disagreement, 'tokenId' | 'nftId' | 'detail'> & {
  readonly contract: string;
  readonly kind: Disagreement['kind'] | OwnerFinding['kind'];
};

export const shownFinding = (chainId: string, { contract, tokenId, nftId, kind, detail }: Finding) => ({
  chainId,
  contract,
  tokenId,
  nftId,
  kind,
  detail,
});
