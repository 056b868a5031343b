import type { operations } from '../contract/generated/rwa.ts';
import type { CompanyContext, Handlers } from '../contract/operation.ts';
import { problem } from '../errors.ts';

type MintOperations = Pick<operations, 'createAndMintNft' | 'mintNft' | 'claimNft'>;

// Dates of the operation's history (RFC 9745, RFC 8594), the same as in the document.
const claimSuccessor = {
  Link: '</v1/api/nft/{id}/mint>; rel="successor-version"',
  Deprecation: '@1767225600',
  Sunset: 'Tue, 30 Jun 2026 23:59:59 GMT',
};

export function createMintHandlers(): Handlers<MintOperations, CompanyContext> {
  return {
    async createAndMintNft() {
      throw problem('not_implemented');
    },
    async mintNft() {
      throw problem('not_implemented');
    },
    async claimNft() {
      throw problem('claim_gone', {}, { headers: claimSuccessor });
    },
  };
}
