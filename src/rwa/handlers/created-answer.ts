import type { components } from '../../contract/generated/rwa.ts';
import type { AnswerForm } from '../../contract/operation.ts';
import type { SealedSecret } from '../assets/claim-secret.ts';
import { findSealedSecrets } from '../assets/nft-store.ts';
import { type Reader, recordSecretsRead } from './secrets-read.ts';
import type { OpenSecret } from './to-api.ts';

/** As handlers make it, before dispatch hides what the key may not see. */
type Nft = components['schemas']['Nft'];
type Created = components['schemas']['CreateNftsResult'];

/**
 * The form in which the answer of an issue is stored for replays: without the secrets, which are read from their rows
 * again.
 */
export function createdAnswer(
  openSecret: OpenSecret,
  reader: Reader,
): AnswerForm<{ status: 200; body: Created }> {
  return {
    store: (body) => ({ ...body, nfts: body.nfts.map(withoutSecret) }),
    async restore(tx, stored) {
      const body = stored as Created; // stored from such a body
      const ids = body.nfts.map(({ id }) => id);
      const sealed = await findSealedSecrets(tx, reader.companyId, ids);
      await recordSecretsRead(tx, reader, body.nfts[0]?.rwaId ?? null, body.nfts);
      return { ...body, nfts: body.nfts.map((nft) => withSecret(nft, openSecret, sealed.get(nft.id))) };
    },
  };
}

// The secret is the fragment at the end of the URL.
export const withoutSecret = <T extends Nft>(nft: T): T => ({
  ...nft,
  secret: '',
  url: nft.url?.slice(0, -(nft.secret ?? '').length) ?? null,
});

export function withSecret<T extends Nft>(
  nft: T,
  openSecret: OpenSecret,
  sealed: SealedSecret | undefined,
): T {
  if (sealed === undefined) throw new Error(`NFT ${nft.id} of a kept answer is gone.`);
  const secret = openSecret({ id: nft.id, sealed });
  // Without it the address has no fragment, as in lists.
  return { ...nft, secret, url: nft.url && (secret === '' ? nft.url.slice(0, -1) : `${nft.url}${secret}`) };
}
