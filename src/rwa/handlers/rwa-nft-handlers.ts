import { problem } from '../../base/errors.ts';
import { basePaths } from '../../contract/documents.ts';
import type { operations } from '../../contract/generated/rwa.ts';
import type { CompanyContext, Handlers } from '../../contract/operation.ts';
import type { Database } from '../../contract/transaction.ts';
import type { ClaimSecretVault } from '../assets/claim-secret.ts';
import { issueSeries } from '../assets/nft-issuer.ts';
import { findRwa } from '../assets/rwa-store.ts';
import { createdAnswer } from './created-answer.ts';
import { nftFilterOf } from './nft-filter.ts';
import { nftPageOf, readNftPage } from './nft-page.ts';
import { recordSecretsRead } from './secrets-read.ts';
import type { OpenSecret, ToApiNft } from './to-api.ts';

type RwaNftOperations = Pick<operations, 'listRwaNfts' | 'createRwaNfts'>;

type Deps = {
  readonly db: Database;
  readonly vault: ClaimSecretVault;
  readonly openSecret: OpenSecret;
  readonly toApiNft: ToApiNft;
};

/** The NFTs of one RWA. */
export function createRwaNftHandlers(deps: Deps): Handlers<RwaNftOperations, CompanyContext> {
  const { db, vault, openSecret, toApiNft } = deps;
  return {
    async listRwaNfts({ path, query }, context) {
      const { companyId } = context;
      const asked = { companyId, path: `${basePaths.rwa}/rwa/${path.id}/nfts`, query };
      const page = nftPageOf(asked);
      const rwa = await findRwa(db, companyId, path.id);
      if (rwa === undefined) throw problem('rwa_not_found');
      const filter = { ...nftFilterOf(query), rwaNumber: rwa.number };
      const { nfts, headers } = await readNftPage(db, page, filter);
      const body = nfts.map((nft) => toApiNft(nft, rwa));
      await recordSecretsRead(db, context, rwa.id, nfts);
      return { status: 200, body, headers };
    },
    createRwaNfts({ path, body: { count } }, context) {
      const { companyId, origin } = context;
      const issue = { companyId, rwaId: path.id, count };
      return context.onceByStatement(
        async (store) => {
          const series = await issueSeries(store, vault, issue, { action: 'nft.create', origin });
          const nfts = series.nfts.map((nft) => toApiNft(nft, series));
          return { status: 200, body: { created: nfts.length, nfts } };
        },
        createdAnswer(openSecret, context),
      );
    },
  };
}
