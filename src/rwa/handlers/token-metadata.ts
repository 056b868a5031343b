import { parseAddress } from '../../chain/address.ts';
import type { operations } from '../../contract/generated/rwa.ts';
import type { Handlers } from '../../contract/operation.ts';
import { problem } from '../../errors.ts';
import { serialText, tokenIdOf, tokenPartsOf } from '../assets/token-id.ts';
import type { TokenStore } from '../assets/token-store.ts';

type MetadataOperations = Pick<operations, 'getTokenMetadata'>;

// Marketplaces ask often and the operator changes an RWA seldom.
const cacheControl = 'public, max-age=300';

/** The public metadata of minted tokens, in the form of ERC-721. */
export function createMetadataHandler({
  tokens,
}: {
  tokens: TokenStore;
}): Handlers<MetadataOperations, never, 'getTokenMetadata'> {
  return {
    async getTokenMetadata({ path }) {
      const contract = parseAddress(path.contractAddress, { in: 'path', name: 'contractAddress' });
      const parts = tokenPartsOf(path.tokenId);
      // Of several ways to write a number, with leading zeros, only one is the id of a token.
      if (parts === undefined || tokenIdOf(parts) !== path.tokenId) throw problem('token_not_found');
      const token = await tokens.findMinted(parts);
      const isHere =
        token?.chainId === path.chainId && token.contractAddress.toLowerCase() === contract.lower;
      if (token === undefined || !isHere) throw problem('token_not_found');
      const serial = serialText(parts.serial);
      const body = {
        name: `${token.name} #${serial}`,
        description: token.description,
        image: token.imageUrl,
        attributes: [
          { trait_type: 'Type', value: token.type },
          { trait_type: 'Serial', value: serial },
        ],
      };
      return { status: 200, body, headers: { 'Cache-Control': cacheControl } };
    },
  };
}
