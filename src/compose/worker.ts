import { feeCapOf } from '../chain/minting/fees.ts';
import { createKeySigner, openKeystore } from '../chain/minting/key-signer.ts';
import { openKmsKey } from '../chain/minting/kms-signer.ts';
import type { Config } from '../config/config.ts';
import { basePaths } from '../contract/documents.ts';
import type { LeasedLoop } from '../db/leases/leased-loop.ts';
import { purgeExpiredRows } from '../db/records/housekeeping.ts';
import { purgeAttendees } from '../events/deleted-event-store.ts';
import { purgeChallenges } from '../events/eligibility/challenge-store.ts';
import { purgeDoneJobs } from '../jobs/done-job-store.ts';
import { purgeUsage } from '../keys/usage-store.ts';
import { createEndpointSecrets } from '../news/endpoints/endpoint-secret.ts';
import { createSendJob } from '../news/endpoints/send-queue.ts';
import { createNewsPurges } from '../news/feed/purge-store.ts';
import { startSequencer } from '../news/feed/sequencer.ts';
import { startSender } from '../news/sending/sender.ts';
import { purgeWrongSecrets } from '../rwa/assets/wrong-secret-store.ts';
import type { OnStep } from '../rwa/mint-worker/context/lane-context.ts';
import { createMintWorker, type MintWorker } from '../rwa/mint-worker/mint-worker.ts';
import type { WantedSigner } from '../rwa/mint-worker/staff.ts';
import { createOwnershipLedger, type OwnershipLedger } from '../rwa/ownership/ledger.ts';
import { purgeSnapshotHolders } from '../rwa/ownership/snapshot-store.ts';
import { createAuditJob } from './audit-job.ts';
import { auditQueue, purgeQueue } from './job-queues.ts';
import type { Parts } from './parts.ts';

/** A key in memory that signs mints: of the local chain, or of a test. */
type PlainSigner = { readonly chainId: string; readonly privateKey: string };

export type MinterOptions = {
  /** In addition to those of the settings; none by default. */
  readonly plainSigners?: readonly PlainSigner[];
  /** Called at each step of a lane. */
  readonly step?: OnStep;
};

/** The worker on accepted mints, with the signers of the settings. Nothing works yet, and no key is opened. */
export function createMinter(parts: Parts, { plainSigners = [], step }: MinterOptions = {}): MintWorker {
  const { config, db, notifications, networks, clients, log, observers, tracing } = parts;
  const plain = plainSigners.map(({ chainId, privateKey }) => ({
    chainId,
    name: `${chainId}=key in memory`,
    open: async () => createKeySigner(privateKey),
  }));
  return createMintWorker({
    db,
    networks,
    clients,
    log,
    tracing,
    observe: observers.minting,
    ...(step && { step }),
    notifications,
    signers: [...plain, ...signersOf(config)],
    settings: {
      feeCap: feeCapOf(config.MINT_MAX_FEE_GWEI),
      maxInFlight: config.MINT_MAX_IN_FLIGHT,
      blockShare: config.MINT_BLOCK_SHARE_PERCENT,
      stuckBlocks: config.MINT_STUCK_BLOCKS,
      pollMs: config.fixed.mintPollMs,
      rebroadcastMs: config.fixed.mintRebroadcastMs,
      leaseSeconds: config.fixed.mintLeaseSeconds,
      standstillSeconds: config.fixed.mintStandstillSeconds,
      refreshSeconds: config.MINT_REFRESH_SECONDS,
    },
  });
}

/** The ledger of who owns the NFTs. Nothing is read yet. */
export function createLedger(parts: Parts): OwnershipLedger {
  const pollMs = parts.config.OWNERSHIP_POLL_SECONDS * 1_000;
  return createOwnershipLedger({ ...parts, pollMs, onUnread: parts.observers.owners });
}

const signersOf = ({ MINT_SIGNERS = [], MINT_KEYSTORE_PASSWORD_FILE = '' }: Config): WantedSigner[] =>
  MINT_SIGNERS.map(({ chainId, kind, place }) => ({
    chainId,
    name: `${chainId}=${kind}:${place}`,
    open: () => (kind === 'kms' ? openKmsKey(place) : openKeystore(place, MINT_KEYSTORE_PASSWORD_FILE)),
  }));

/** Starts to number news, and to send them to endpoints. Without SECRET_KEYS there is nothing to sign with. */
export function startNews({ config, db, jobs, log, notifications, outgoing }: Parts): readonly LeasedLoop[] {
  const sequencer = startSequencer({ db, log });
  if (config.SECRET_KEYS === undefined) return [sequencer];
  const secrets = createEndpointSecrets(config.SECRET_KEYS);
  const allowedHosts = config.WEBHOOK_HOSTS ?? [];
  return [
    sequencer,
    startSender({ db, jobs, log, notifications, outgoing, secrets, allowedHosts, paths: basePaths }),
  ];
}

/** Begins to work on jobs: those of the minter, and the ones that run by the clock. */
export function startJobs({ config, db, jobs, log }: Parts, minter: MintWorker): Promise<void> {
  const ofEvents = [purgeAttendees, purgeChallenges];
  const ofRwas = [purgeWrongSecrets, purgeSnapshotHolders];
  const purges = [
    purgeDoneJobs,
    purgeUsage,
    ...ofEvents,
    ...ofRwas,
    ...createNewsPurges(config.NEWS_KEEP_DAYS),
  ];
  const purge = {
    queue: purgeQueue,
    cron: '*/10 * * * *',
    handle: () => purgeExpiredRows(db, purges),
  };
  const chain = { queue: auditQueue, cron: '* * * * *', handle: createAuditJob({ db, log }) };
  return jobs.work({ scheduled: [purge, chain], keyed: [minter.job, createSendJob(db)] });
}
