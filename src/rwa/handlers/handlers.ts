import type { operations } from '../../contract/generated/rwa.ts';
import type { CompanyContext, Handlers } from '../../contract/operation.ts';
import type { Database } from '../../contract/transaction.ts';
import type { JobSender } from '../../jobs/queue.ts';
import type { Logger } from '../../log.ts';
import type { ClaimSecretVault } from '../assets/claim-secret.ts';
import { createMintAcceptor } from '../minting/mint-acceptor.ts';
import { createMintHandlers, toApiAccepted } from './mint-handlers.ts';
import { createNftHandlers } from './nft-handlers.ts';
import { createRwaHandlers } from './rwa-handlers.ts';
import { createRwaNftHandlers } from './rwa-nft-handlers.ts';
import { createToApiNft } from './to-api.ts';
import { createMetadataHandler } from './token-metadata.ts';

type Deps = {
  readonly db: Database;
  readonly vault: ClaimSecretVault;
  readonly log: Logger;
  /** The claim page of companies and RWAs that have none of their own. */
  readonly claimBaseUrl: string;
  readonly jobs: JobSender;
  /** Tells the workers that mints were accepted. */
  readonly wakeMinting: () => void;
};

/** The operations of the RWA area. */
export function createRwaAreaHandlers(deps: Deps): Handlers<operations, CompanyContext, 'getTokenMetadata'> {
  const { db, vault, jobs, wakeMinting: wake } = deps;
  const toApiNft = createToApiNft({
    ...deps,
    onDamaged: (nftId, err) => deps.log.error({ err, nftId }, 'claim secret cannot be opened'),
  });
  const mints = createMintAcceptor({ db, vault, jobs, wake, toAnswer: toApiAccepted });
  return {
    ...createRwaHandlers({ db }),
    ...createRwaNftHandlers({ db, vault, toApiNft }),
    ...createNftHandlers({ db, toApiNft }),
    ...createMintHandlers({ mints }),
    ...createMetadataHandler({ db }),
  };
}
