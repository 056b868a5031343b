import { problem } from '../../base/errors.ts';
import { basePaths } from '../../contract/documents.ts';
import type { components, operations } from '../../contract/generated/rwa.ts';
import type { CompanyContext, Handlers, Origin } from '../../contract/operation.ts';
import type { AcceptedMint, MintAcceptor } from '../minting/accept/mint-acceptor.ts';
import { parseRecipient } from './recipient.ts';

type MintOperations = Pick<operations, 'createAndMintNft' | 'mintNft' | 'claimNft'>;
type Accepted = components['schemas']['MintAccepted'];

// Dates of the operation's history (RFC 9745, RFC 8594), the same as in the document.
const claimSuccessor = {
  Link: '</v1/api/nft/{id}/mint>; rel="successor-version"',
  Deprecation: '@1767225600',
  Sunset: 'Tue, 30 Jun 2026 23:59:59 GMT',
};

type Deps = { readonly mints: MintAcceptor };

export function createMintHandlers({ mints }: Deps): Handlers<MintOperations, CompanyContext> {
  return {
    async createAndMintNft({ path, body }, { companyId, idempotency, origin }) {
      const recipient = recipientOf(body);
      const data = body?.data ?? undefined;
      const request = { companyId, rwaId: path.id, recipient, data, idempotency, by: byKey(origin) };
      return replyOf(await mints.createAndMint(request));
    },
    async mintNft({ path, body }, { companyId, idempotency, origin }) {
      const recipient = recipientOf(body);
      const request = {
        companyId,
        nftId: path.id,
        secret: body.secret,
        recipient,
        idempotency,
        by: byKey(origin),
        caller: { kind: 'key', name: origin.keyId },
      } as const;
      return replyOf(await mints.mint(request));
    },
    async claimNft() {
      // The path as the document writes it.
      throw problem('claim_gone', { id: '{id}' }, { headers: claimSuccessor });
    },
  };
}

const byKey = (origin: Origin) => ({ kind: 'key', ...origin }) as const;

function replyOf({ nftId, isReplay }: AcceptedMint) {
  return {
    status: 200 as const,
    body: toApiAccepted(nftId),
    headers: isReplay ? { 'Idempotency-Replayed': 'true' } : {},
  };
}

/** The answer to a mint that was accepted. */
export function toApiAccepted(nftId: string): Accepted {
  return {
    status: 'queued',
    nftId,
    message: 'The NFT is queued for minting. Read statusUrl for the result.',
    statusUrl: `${basePaths.rwa}/nft/${nftId}`,
  };
}

/** The recipient that a body names, in EIP-55. @throws problem naming the field when it is not a valid recipient */
function recipientOf(body: { readonly recipient?: string | null } | undefined): string | undefined {
  const text = body?.recipient ?? undefined;
  return text === undefined ? undefined : parseRecipient(text);
}
