import type { Logger } from '../../base/log.ts';
import type { NetworkRegistry } from '../../chain/networks.ts';
import type { RpcClients } from '../../chain/rpc/client/rpc-clients.ts';
import type { operations as ClaimOperations } from '../../contract/generated/claim.ts';
import type { operations } from '../../contract/generated/rwa.ts';
import type { CompanyContext, Handlers } from '../../contract/operation.ts';
import type { Database } from '../../contract/transaction.ts';
import type { MayLag } from '../../db/replica/replica-reads.ts';
import type { JobSender } from '../../jobs/queue.ts';
import type { ClaimSecretVault } from '../assets/claim-secret.ts';
import { createHolderClaims } from '../minting/accept/holder-claims.ts';
import { createMintAcceptor } from '../minting/accept/mint-acceptor.ts';
import { createChangeHandlers } from './change-handlers.ts';
import { createClaimHandlers } from './claim-handlers.ts';
import { createMintHandlers, toApiAccepted } from './mint-handlers.ts';
import { createNftHandlers } from './nft-handlers.ts';
import { createOwnershipHandlers } from './ownership-handlers.ts';
import { createRwaHandlers } from './rwa-handlers.ts';
import { createRwaNftHandlers } from './rwa-nft-handlers.ts';
import { createSnapshotHandlers } from './snapshot-handlers.ts';
import { createOpenSecret, createToApiNft } from './to-api.ts';
import { createMetadataHandler } from './token-metadata.ts';

type Deps = {
  readonly db: Database;
  /** Answers what may be some seconds old; never what shows claim secrets. */
  readonly mayLag: MayLag;
  readonly vault: ClaimSecretVault;
  readonly networks: Pick<NetworkRegistry, 'find'>;
  readonly clients: Pick<RpcClients, 'for'>;
  readonly log: Logger;
  /** The claim page of companies and RWAs that have none of their own. */
  readonly claimBaseUrl: string;
  /** Holders that the snapshots of a company may store. */
  readonly mostHolders: number;
  readonly jobs: JobSender;
  /** Notifies the workers that mints were accepted. */
  readonly wakeMinting: (causes: readonly string[]) => void;
};

/** The operations of companies, except the operation that all areas share, and the operations of the holders of secrets. */
export type RwaAreas = {
  readonly rwa: Handlers<Omit<operations, 'getRwaKey' | 'getUsage'>, CompanyContext, 'getTokenMetadata'>;
  readonly claim: Handlers<ClaimOperations, never, keyof ClaimOperations>;
};

/** The operations on RWAs and their NFTs. */
export function createRwaAreas(deps: Deps): RwaAreas {
  const { db, mayLag, vault, jobs, wakeMinting: wake } = deps;
  const openSecret = createOpenSecret(vault, (nftId, err) =>
    deps.log.error({ err, nftId }, 'claim secret cannot be opened'),
  );
  const toApiNft = createToApiNft({ openSecret, claimBaseUrl: deps.claimBaseUrl });
  const mints = createMintAcceptor({ db, vault, jobs, wake, toAnswer: toApiAccepted });
  const rwa = {
    ...createRwaHandlers({ db, mayLag }),
    ...createRwaNftHandlers({ db, vault, openSecret, toApiNft }),
    ...createNftHandlers({ db, openSecret, toApiNft }),
    ...createChangeHandlers(deps),
    ...createMintHandlers({ mints }),
    ...createMetadataHandler({ mayLag }),
    ...createOwnershipHandlers(deps),
    ...createSnapshotHandlers(deps),
  };
  const claims = createHolderClaims({ db, vault, openSecret, mints });
  return { rwa, claim: createClaimHandlers({ ...deps, claims }) };
}
