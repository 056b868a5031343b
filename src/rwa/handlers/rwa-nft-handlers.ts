import type { operations } from '../../contract/generated/rwa.ts';
import type { CompanyContext, Handlers } from '../../contract/operation.ts';
import { problem } from '../../errors.ts';
import type { ClaimSecretVault } from '../assets/claim-secret.ts';
import type { NftIssuer } from '../assets/nft-issuer.ts';
import type { NftStore } from '../assets/nft-store.ts';
import type { RwaStore } from '../assets/rwa-store.ts';
import { createdAnswer } from './created-answer.ts';
import { nftFilterOf } from './nft-filter.ts';
import { pageOf } from './page.ts';
import type { ToApiNft } from './to-api.ts';

type RwaNftOperations = Pick<operations, 'listRwaNfts' | 'createRwaNfts'>;

type Deps = {
  readonly rwas: RwaStore;
  readonly nfts: NftStore;
  readonly issuer: NftIssuer;
  readonly vault: ClaimSecretVault;
  readonly toApiNft: ToApiNft;
};

/** The NFTs of one RWA. */
export function createRwaNftHandlers(deps: Deps): Handlers<RwaNftOperations, CompanyContext> {
  const { rwas, nfts, issuer, vault, toApiNft } = deps;
  return {
    async listRwaNfts({ path, query }, { companyId }) {
      const rwa = await rwas.find(companyId, path.id);
      if (rwa === undefined) throw problem('rwa_not_found');
      const filter = { ...nftFilterOf(query), rwaNumber: rwa.number };
      const [total, found] = await Promise.all([
        nfts.count(companyId, filter),
        nfts.list(companyId, filter, pageOf(query)),
      ]);
      const body = found.map((nft) => toApiNft(nft, rwa));
      return { status: 200, body, headers: { 'X-Total-Count': String(total) } };
    },
    createRwaNfts({ path, body }, { companyId, once }) {
      const answer = createdAnswer({ nfts, vault, companyId });
      return once(
        async (tx) => {
          const issued = await issuer.issue(tx, { companyId, rwaId: path.id, count: body.count });
          const made = issued.nfts.map((nft) => toApiNft(nft, issued.rwa));
          return { status: 200, body: { created: made.length, nfts: made } };
        },
        { answer },
      );
    },
  };
}
