import type { operations } from '../../contract/generated/rwa.ts';
import type { CompanyContext, Handlers } from '../../contract/operation.ts';
import type { JobSender } from '../../jobs/queue.ts';
import type { ClaimSecretVault } from '../assets/claim-secret.ts';
import { createNftIssuer } from '../assets/nft-issuer.ts';
import { createNftStore } from '../assets/nft-store.ts';
import { createRwaStore } from '../assets/rwa-store.ts';
import { createTokenStore } from '../assets/token-store.ts';
import { createMintService } from '../minting/mint-service.ts';
import { createMintHandlers } from './mint-handlers.ts';
import { createNftHandlers } from './nft-handlers.ts';
import { createRwaReaders } from './rwa-handlers.ts';
import { createRwaNftHandlers } from './rwa-nft-handlers.ts';
import { createToApiNft } from './to-api.ts';
import { createMetadataHandler } from './token-metadata.ts';

type Deps = {
  readonly db: Parameters<typeof createRwaStore>[0]['db'];
  readonly vault: ClaimSecretVault;
  /** The claim page of companies and RWAs that have none of their own. */
  readonly claimBaseUrl: string;
  readonly jobs: JobSender;
  /** Tells the worker that mints were accepted. */
  readonly wakeMinting: () => void;
};

/** The operations of the RWA area. */
export function createRwaHandlers(deps: Deps): Handlers<operations, CompanyContext, 'getTokenMetadata'> {
  const { db, vault, jobs, wakeMinting: wake } = deps;
  const rwas = createRwaStore({ db });
  const nfts = createNftStore({ db });
  const issuer = createNftIssuer({ rwas, nfts, vault });
  const toApiNft = createToApiNft(deps);
  return {
    ...createRwaReaders({ rwas }),
    ...createRwaNftHandlers({ rwas, nfts, issuer, vault, toApiNft }),
    ...createNftHandlers({ rwas, nfts, toApiNft }),
    ...createMintHandlers({ mints: createMintService({ vault, jobs, wake }) }),
    ...createMetadataHandler({ tokens: createTokenStore({ db }) }),
  };
}
