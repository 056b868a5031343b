import type { Database } from '../../../contract/transaction.ts';
import type { Logger } from '../../../log.ts';
import { ForbiddenHostError } from '../../../outgoing/public-address.ts';
import { listDueMetadata, saveMetadata } from '../store/metadata-store.ts';
import type { MetadataFetcher } from './metadata-fetcher.ts';

type FillerOptions = {
  readonly chainId: string;
  readonly db: Database;
  readonly fetcher: MetadataFetcher;
  readonly log: Logger;
};

const atOnce = 8;

/**
 * Creates a function that fetches the metadata of tokens that are due, a few at once, and returns whether there may
 * be more. A failed fetch is due again later, unless it can never succeed.
 */
export function createMetadataFiller({ chainId, db, fetcher, log }: FillerOptions) {
  return async (): Promise<boolean> => {
    const due = await listDueMetadata(db, chainId, atOnce);
    const fetched = await Promise.all(
      due.map(async ({ contract, tokenId, tokenUri }) => {
        const spread = 0.75 + Math.random() / 2;
        try {
          return { contract, tokenId, metadata: await fetcher.fetch(tokenUri), again: false, spread };
        } catch (err) {
          log.debug({ err, chainId, contract, tokenId: String(tokenId) }, 'no metadata');
          return { contract, tokenId, metadata: undefined, again: mayComeYet(tokenUri, err), spread };
        }
      }),
    );
    if (fetched.length > 0) await saveMetadata(db, chainId, fetched);
    return due.length === atOnce;
  };
}

/** A host may be out, or serve a placeholder for a while; a URI that contains its metadata does not change. */
function mayComeYet(tokenUri: string, error: unknown): boolean {
  return /^(https?|ipfs):/i.test(tokenUri.trim()) && !(error instanceof ForbiddenHostError);
}
