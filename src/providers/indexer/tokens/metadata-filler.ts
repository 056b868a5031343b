import { setTimeout as wait } from 'node:timers/promises';
import type { Logger } from '../../../base/log.ts';
import type { Database } from '../../../contract/transaction.ts';
import { ForbiddenHostError } from '../../../outgoing/public-address.ts';
import {
  type DueMetadata,
  type FetchedMetadata,
  listDueMetadata,
  saveMetadata,
} from '../store/tokens/metadata-store.ts';
import { isFetched, type MetadataFetcher } from './metadata-fetcher.ts';

type FillerOptions = {
  readonly chainId: string;
  readonly db: Database;
  readonly fetcher: MetadataFetcher;
  readonly log: Logger;
};

const atOnce = 8;
// How soon new work is noticed while slow hosts are waited for.
const lookMs = 1_000;

/**
 * Creates a function that fetches the metadata of tokens that are due, a few at once, until none is due or the signal
 * aborts. It returns whether there may be more. A free place is used at once, so nobody waits for the slowest. A
 * failed fetch is due again later, unless it can never succeed.
 */
export function createMetadataFiller({ chainId, db, fetcher, log }: FillerOptions) {
  const fetchOne = async ({ tokenUri, ...token }: DueMetadata): Promise<FetchedMetadata> => {
    const { contract, tokenId } = token;
    try {
      return { ...token, metadata: await fetcher.fetch(tokenUri), again: false };
    } catch (err) {
      log.debug({ err, chainId, contract, tokenId: String(tokenId) }, 'no metadata');
      return { ...token, metadata: undefined, again: mayComeYet(tokenUri, err) };
    }
  };
  const fill = async (token: DueMetadata) => saveMetadata(db, chainId, [await fetchOne(token)]);

  return async (signal?: AbortSignal): Promise<boolean> => {
    const underWay = new Map<string, Promise<void>>();
    for (;;) {
      const due = signal?.aborted === true ? [] : await listDueMetadata(db, chainId, 2 * atOnce);
      for (const token of due) {
        const name = `${token.contract} ${token.tokenId}`;
        if (underWay.size >= atOnce || underWay.has(name)) continue;
        const filled = fill(token).finally(() => underWay.delete(name));
        filled.catch(() => {}); // the race passes the error on
        underWay.set(name, filled);
      }
      if (underWay.size === 0) return false;
      await Promise.race([wait(lookMs, undefined, { ref: false }), ...underWay.values()]);
    }
  };
}

/** A host may be out, or serve a placeholder for a while. A URI that contains its metadata does not change. */
function mayComeYet(tokenUri: string, error: unknown): boolean {
  return isFetched(tokenUri) && !(error instanceof ForbiddenHostError);
}
