import type { Logger } from '../../../log.ts';
import type { TokenStore } from '../store/token-store.ts';
import type { MetadataFetcher } from './metadata-fetcher.ts';

type FillerOptions = {
  readonly chainId: string;
  readonly tokens: TokenStore;
  readonly fetcher: MetadataFetcher;
  readonly log: Logger;
};

const atOnce = 8;

/**
 * Fetches the metadata of tokens whose URI is known and was never fetched, a few at once. Each is tried once;
 * what cannot be had is remembered as none.
 * @returns whether there may be more
 */
export function createMetadataFiller({ chainId, tokens, fetcher, log }: FillerOptions) {
  return async (): Promise<boolean> => {
    const waiting = await tokens.withoutMetadata(chainId, atOnce);
    const found = await Promise.all(
      waiting.map(async ({ contract, tokenId, tokenUri }) => {
        const metadata = await fetcher.fetch(tokenUri).catch((err: unknown) => {
          log.debug({ err, chainId, contract, tokenId: String(tokenId) }, 'no metadata');
          return null;
        });
        return { contract, tokenId, metadata };
      }),
    );
    if (found.length > 0) await tokens.saveMetadata(chainId, found);
    return waiting.length === atOnce;
  };
}
