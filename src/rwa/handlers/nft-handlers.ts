import { isDeepStrictEqual } from 'node:util';
import { problem } from '../../base/errors.ts';
import { lookInEachCase } from '../../base/look-of.ts';
import { basePaths } from '../../contract/documents.ts';
import { assertMatch, entityTag } from '../../contract/entity-tag.ts';
import type { components, operations } from '../../contract/generated/rwa.ts';
import type { CompanyContext, Handlers } from '../../contract/operation.ts';
import type { Database } from '../../contract/transaction.ts';
import { recordByKey } from '../../db/records/audit-store.ts';
import type { Nft } from '../assets/nft-row.ts';
import { changeNft, findForeignNfts, lockNft, revealNft } from '../assets/nft-store.ts';
import type { FieldError } from '../assets/rwa-input.ts';
import type { Rwa } from '../assets/rwa-row.ts';
import { findRwa, findRwasByNumber } from '../assets/rwa-store.ts';
import { withoutSecret, withSecret } from './created-answer.ts';
import { nftFilterOf } from './nft-filter.ts';
import { nftPageOf, readNftPage } from './nft-page.ts';
import { bodyProblem } from './refusal.ts';
import { type Reader, recordSecretsRead, secretsReadAction, seesSecrets } from './secrets-read.ts';
import { type OpenSecret, type ToApiNft, toApiRwa, toApiRwaDetail } from './to-api.ts';

type NftOperations = Pick<operations, 'listNfts' | 'getNft' | 'updateNft'>;

type Deps = { readonly db: Database; readonly openSecret: OpenSecret; readonly toApiNft: ToApiNft };

/** The NFTs of a company, of all its RWAs. */
export function createNftHandlers({
  db,
  openSecret,
  toApiNft,
}: Deps): Handlers<NftOperations, CompanyContext> {
  const numberOf = async (companyId: string, rwaId: string) => (await findRwa(db, companyId, rwaId))?.number;

  return {
    async listNfts({ query }, context) {
      const { companyId } = context;
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
      await recordSecretsRead(db, context, query.rwaId ?? null, nfts);
      return { status: 200, body, headers };
    },
    async getNft({ path }, context) {
      const { nft, rwa } = await reveal(db, path.id, context);
      return tagged(nft, { ...toApiNft(nft, rwa), rwa: toApiRwaDetail(rwa) });
    },
    updateNft({ path: { id }, header, body = {} }, context) {
      const { companyId, once, origin } = context;
      const { data, attributes, imageUrl } = body;
      const faults = changeFaults(body);
      if (faults.length > 0) throw bodyProblem(faults);
      return once(
        async (tx) => {
          const before = await lockNft(tx, companyId, id);
          if (before === undefined) throw await absentNft(tx, companyId, id);
          assertMatch(header['If-Match'], nftTag(before));
          const changed = Object.entries({ data, attributes, imageUrl }).filter(
            ([field, value]) => value !== undefined && !isDeepStrictEqual(value, before[field as Changeable]),
          );
          if (changed.length > 0) {
            await changeNft(tx, companyId, id, Object.fromEntries(changed));
            const details = { fields: changed.map(([field]) => field) };
            await recordByKey(tx, { action: 'nft.update', companyId, subject: before.id, details }, origin);
          }
          const { nft, rwa } = await reveal(tx, id, context);
          return tagged(nft, { ...toApiNft(nft, rwa), rwa: toApiRwaDetail(rwa) });
        },
        {
          store: withoutSecret,
          async restore(tx, stored) {
            const kept = stored as Detail; // stored from such a body
            const { nft } = await reveal(tx, kept.id, context);
            return withSecret(kept, openSecret, nft.sealed);
          },
        },
      );
    },
  };
}

type Detail = components['schemas']['NftDetail'];
type Changeable = 'data' | 'attributes' | 'imageUrl';

/** Reads an NFT with its RWA and its secret. Stores in the audit log that the secret is shown, where the key sees it. */
async function reveal(db: Database, id: string, reader: Reader) {
  const { companyId, origin } = reader;
  const entry = seesSecrets(reader) ? { action: secretsReadAction, origin } : undefined;
  const found = await revealNft(db, companyId, id, entry);
  if (found === undefined) throw await absentNft(db, companyId, id);
  return found;
}

/** The problem of an NFT that the company does not have. */
export async function absentNft(db: Database, companyId: string, id: string) {
  // Foreign and unknown ids take the same two statements, so the time reveals no more than the status.
  const foreign = await findForeignNfts(db, companyId, [id]);
  return problem(foreign.size > 0 ? 'nft_foreign' : 'nft_not_found');
}

const tagged = (nft: Nft, body: Detail) => ({ status: 200, body, headers: { ETag: nftTag(nft) } }) as const;

/** The tag of what a PATCH can change. A mint leaves it as it is. */
const nftTag = ({ id, data, attributes, imageUrl }: Pick<Nft, 'id' | Changeable>) =>
  entityTag(id, data, attributes, imageUrl);

const ofService = new Set(['Type', 'Serial', 'Issuer'].flatMap(lookInEachCase));

function changeFaults({ attributes, imageUrl }: components['schemas']['UpdateNftRequest']): FieldError[] {
  const reserved = (attributes ?? []).some((each) =>
    lookInEachCase(each.trait_type).some((look) => ofService.has(look)),
  );
  const message =
    'must not have Type, Serial or Issuer, which the service sets, nor a name that looks like one of them';
  const isUrl = imageUrl === undefined || imageUrl === null || URL.canParse(imageUrl);
  return [
    ...(reserved ? [{ field: 'attributes', message }] : []),
    ...(isUrl ? [] : [{ field: 'imageUrl', message: 'must be an http(s) URL' }]),
  ];
}

function ownerOf<R extends Rwa>(nft: Nft, rwa: R | undefined): R {
  if (rwa === undefined) throw new Error(`The RWA of NFT ${nft.id} is missing.`);
  return rwa;
}
