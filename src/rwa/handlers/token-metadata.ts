import { problem } from '../../base/errors.ts';
import { parseAddress } from '../../chain/address.ts';
import type { operations } from '../../contract/generated/rwa.ts';
import type { Handlers } from '../../contract/operation.ts';
import type { MayLag } from '../../db/replica/replica-reads.ts';
import { serialText } from '../assets/token-id.ts';
import { findMintedToken } from '../assets/token-store.ts';

type MetadataOperations = Pick<operations, 'getTokenMetadata'>;

// Marketplaces read often, and operators rarely change an RWA.
const cacheControl = 'public, max-age=300';

/** The public metadata of minted tokens, in the form of ERC-721. */
export function createMetadataHandler({
  mayLag,
}: {
  readonly mayLag: MayLag;
}): Handlers<MetadataOperations, never, 'getTokenMetadata'> {
  return {
    async getTokenMetadata({ path }) {
      const contract = parseAddress(path.contractAddress, { in: 'path', name: 'contractAddress' });
      const token = await mayLag((db) => findMintedToken(db, path.tokenId));
      const isHere =
        token?.chainId === path.chainId && token.contractAddress.toLowerCase() === contract.lower;
      if (token === undefined || !isHere) throw problem('token_not_found');
      const serial = serialText(token.serial);
      const body = {
        name: `${token.name} #${serial}`,
        description: token.description,
        image: token.imageUrl,
        attributes: [
          { trait_type: 'Type', value: token.type },
          { trait_type: 'Serial', value: serial },
          ...(token.companyName === null ? [] : [{ trait_type: 'Issuer', value: token.companyName }]),
          ...token.attributes,
        ],
      };
      return { status: 200, body, headers: { 'Cache-Control': cacheControl } };
    },
  };
}
