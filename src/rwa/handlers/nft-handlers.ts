import { problem } from '../../base/errors.ts';
import { basePaths } from '../../contract/documents.ts';
import type { operations } from '../../contract/generated/rwa.ts';
import type { CompanyContext, Handlers } from '../../contract/operation.ts';
import type { Database } from '../../contract/transaction.ts';
import { recordByKey } from '../../db/records/audit-store.ts';
import type { Nft } from '../assets/nft-row.ts';
import { findForeignNfts, revealNft } from '../assets/nft-store.ts';
import type { Rwa } from '../assets/rwa-row.ts';
import { findRwa, findRwasByNumber } from '../assets/rwa-store.ts';
import { nftFilterOf } from './nft-filter.ts';
import { nftPageOf, readNftPage } from './nft-page.ts';
import { secretsRead, secretsReadAction } from './secrets-read.ts';
import { type ToApiNft, toApiRwa, toApiRwaDetail } from './to-api.ts';

type NftOperations = Pick<operations, 'listNfts' | 'getNft'>;

type Deps = { readonly db: Database; readonly toApiNft: ToApiNft };

/** The NFTs of a company, of all its RWAs. */
export function createNftHandlers({ db, toApiNft }: Deps): Handlers<NftOperations, CompanyContext> {
  const numberOf = async (companyId: string, rwaId: string) => (await findRwa(db, companyId, rwaId))?.number;

  return {
    async listNfts({ query }, { companyId, origin }) {
      const page = nftPageOf({ companyId, path: `${basePaths.rwa}/nft`, query });
      const filter = nftFilterOf(query);
      const rwaNumber = query.rwaId === undefined ? undefined : await numberOf(companyId, query.rwaId);
      // A foreign RWA is answered like an unknown one: with an empty list.
      if (query.rwaId !== undefined && rwaNumber === undefined)
        return { status: 200, body: [], headers: { 'X-Total-Count': '0' } };
      const { nfts, headers } = await readNftPage(db, page, { ...filter, rwaNumber });
      const numbers = new Set(nfts.map((nft) => nft.rwaNumber));
      const owners = new Map(
        (await findRwasByNumber(db, companyId, [...numbers])).map((rwa) => [rwa.number, rwa]),
      );
      const body = nfts.map((nft) => {
        const rwa = ownerOf(nft, owners.get(nft.rwaNumber));
        return { ...toApiNft(nft, rwa), rwa: toApiRwa(rwa) };
      });
      await recordByKey(db, secretsRead(companyId, query.rwaId ?? null, nfts), origin);
      return { status: 200, body, headers };
    },
    async getNft({ path }, { companyId, origin }) {
      const found = await revealNft(db, companyId, path.id, { action: secretsReadAction, origin });
      if (found === undefined) {
        // Foreign and unknown ids take the same two lookups, so the time reveals no more than the status.
        const foreign = await findForeignNfts(db, companyId, [path.id]);
        throw problem(foreign.size > 0 ? 'nft_foreign' : 'nft_not_found');
      }
      const { nft, rwa } = found;
      return { status: 200, body: { ...toApiNft(nft, rwa), rwa: toApiRwaDetail(rwa) } };
    },
  };
}

function ownerOf<R extends Rwa>(nft: Nft, rwa: R | undefined): R {
  if (rwa === undefined) throw new Error(`The RWA of NFT ${nft.id} is missing.`);
  return rwa;
}
