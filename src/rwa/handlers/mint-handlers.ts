import { checksumAddress, parseAddress } from '../../chain/address.ts';
import { basePaths } from '../../contract/documents.ts';
import type { components, operations } from '../../contract/generated/rwa.ts';
import type { CompanyContext, Handlers } from '../../contract/operation.ts';
import type { Tx } from '../../contract/transaction.ts';
import { type ProblemError, problem } from '../../errors.ts';
import type { MintAnswer, MintService } from '../minting/mint-service.ts';

type MintOperations = Pick<operations, 'createAndMintNft' | 'mintNft' | 'claimNft'>;
type Accepted = components['schemas']['MintAccepted'];

// Dates of the operation's history (RFC 9745, RFC 8594), the same as in the document.
const claimSuccessor = {
  Link: '</v1/api/nft/{id}/mint>; rel="successor-version"',
  Deprecation: '@1767225600',
  Sunset: 'Tue, 30 Jun 2026 23:59:59 GMT',
};

type Deps = { readonly mints: MintService };

export function createMintHandlers({ mints }: Deps): Handlers<MintOperations, CompanyContext> {
  return {
    async createAndMintNft({ path, body }, { companyId, once }) {
      const recipient = recipientOf(body);
      const data = body?.data ?? undefined;
      const create = async (tx: Tx) => {
        const nftId = await mints.create(tx, { companyId, rwaId: path.id, recipient, data });
        return { status: 200 as const, body: accepted(nftId) };
      };
      return once(create, { shared: {} });
    },
    async mintNft({ path, body }, { companyId, once }) {
      const recipient = recipientOf(body);
      // A refusal is a reply here, not thrown: the wrong secret that it counted must commit.
      const accept = async (tx: Tx) =>
        replyOf(await mints.accept(tx, { companyId, nftId: path.id, secret: body.secret, recipient }));
      const reply = await once(accept, { shared: { about: path.id.toLowerCase() } });
      if (reply.status !== 200) throw reply.body;
      return reply;
    },
    async claimNft() {
      // The path as the document writes it.
      throw problem('claim_gone', { id: '{id}' }, { headers: claimSuccessor });
    },
  };
}

type MintReply =
  | { readonly status: 200; readonly body: Accepted }
  | { readonly status: 400; readonly body: ProblemError };

function replyOf(answer: MintAnswer): MintReply {
  return answer.outcome === 'refused'
    ? { status: 400, body: answer.refusal }
    : { status: 200, body: accepted(answer.nftId) };
}

function accepted(nftId: string): Accepted {
  return {
    status: 'queued',
    nftId,
    message: 'The NFT is queued for minting. Read statusUrl for the result.',
    statusUrl: `${basePaths.rwa}/nft/${nftId}`,
  };
}

const place = { in: 'body', pointer: '/recipient' } as const;
const zeroAddress = checksumAddress(`0x${'0'.repeat(40)}`);

/** The recipient that a body names, in EIP-55. @throws problem naming it when it can be none */
function recipientOf(body: { readonly recipient?: string | null } | undefined): string | undefined {
  const text = body?.recipient ?? undefined;
  if (text === undefined) return undefined;
  const { checksum } = parseAddress(text, place);
  if (checksum !== zeroAddress) return checksum;
  const message = 'recipient must not be the zero address';
  throw problem('input_invalid', {}, { detail: message, errors: [{ ...place, message }] });
}
