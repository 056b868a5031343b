/** A token of an ERC-721. The contract is in EIP-55. */
export type Token = { readonly chainId: string; readonly contract: string; readonly tokenId: string };

/** A token as one text. */
export const tokenKey = ({ chainId, contract, tokenId }: Token): string =>
  `${chainId}:${contract}:${tokenId}`;
