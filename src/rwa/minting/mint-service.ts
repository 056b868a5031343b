import { randomUUID } from 'node:crypto';
import type { Tx } from '../../contract/transaction.ts';
import { afterCommit } from '../../db/transaction.ts';
import { type ProblemError, problem } from '../../errors.ts';
import type { JobSender } from '../../jobs/queue.ts';
import { type ClaimSecretVault, sameSecret } from '../assets/claim-secret.ts';
import { countWrongSecret, isLockedNow, secondsLocked } from '../assets/secret-attempt-store.ts';
import { isForeignNft, type MintCandidate, type MintGround, mintRequestStore } from './eligibility-store.ts';
import { insertQueuedNft, queueNft } from './mint-state-store.ts';

/** The queue of NFTs whose mint was accepted; a job's key is the id of the NFT. */
export const mintQueue = 'mint-nft';
/** Notified after mints were accepted, so that no lane waits for its next look. */
export const mintChannel = 'tallystick_mint';

/** `refused` has changed what must be kept: the transaction is to be committed, then the problem thrown. */
export type MintAnswer =
  | { readonly outcome: 'accepted'; readonly nftId: string }
  | { readonly outcome: 'refused'; readonly refusal: ProblemError };

type MintRequest = {
  readonly companyId: string;
  /** EIP-55; without one the NFT goes to the treasury of the company. */
  readonly recipient: string | undefined;
};

/** Accepts mints: the only way from `unclaimed` or `failed` to `queued`. */
export type MintService = {
  /**
   * Accepts the mint of an NFT that is there: its new state and its job are in the transaction.
   * @throws problem when the request changes nothing; it has changed nothing then
   */
  accept(tx: Tx, wanted: MintRequest & { nftId: string; secret: string }): Promise<MintAnswer>;
  /**
   * Makes an NFT and accepts its mint.
   * @returns its id
   * @throws problem when the RWA, its network or the company does not allow it; it has changed nothing then
   */
  create(tx: Tx, wanted: MintRequest & { rwaId: string; data: object | undefined }): Promise<string>;
};

type Deps = {
  readonly vault: ClaimSecretVault;
  readonly jobs: JobSender;
  /** Tells the worker that mints were accepted. */
  readonly wake: () => void;
};

export function createMintService({ vault, jobs, wake }: Deps): MintService {
  const ask = async (tx: Tx, nftId: string) => {
    // A job of this NFT that is there already sees the row, or the reconciler does.
    await jobs.send(tx, mintQueue, nftId);
    afterCommit(tx, wake);
  };

  return {
    async accept(tx, { companyId, nftId, secret, recipient: named }) {
      const nft = await mintRequestStore.lockCandidate(tx, companyId, nftId);
      if (nft === undefined) {
        throw problem((await isForeignNft(tx, companyId, nftId)) ? 'nft_foreign' : 'nft_not_found');
      }
      if (nft.isLocked) throw await lockedProblem(tx, nft.id);
      if (!sameSecret(vault.open(nft.id, nft.sealed), secret)) return refuseSecret(tx, nft.id);
      const accepted = { outcome: 'accepted', nftId: nft.id } as const;
      const recipient = named ?? nft.treasury ?? undefined;
      if (nft.state !== 'unclaimed' && nft.state !== 'failed') {
        if (await isLockedNow(tx, nft.id)) throw await lockedProblem(tx, nft.id);
        assertSameMint(nft, recipient);
        return accepted;
      }
      const { id, chainId } = nft;
      // Wrong secrets that were counted while this request waited for the row.
      if (!(await queueNft(tx, { id, chainId, recipient: groundFor(nft, recipient) }))) {
        throw await lockedProblem(tx, id);
      }
      await ask(tx, id);
      return accepted;
    },

    async create(tx, { companyId, rwaId, recipient: named, data }) {
      const ground = await mintRequestStore.findGround(tx, companyId, rwaId);
      if (ground === undefined) throw problem('rwa_not_found');
      const recipient = groundFor(ground, named ?? ground.treasury ?? undefined);
      const id = randomUUID();
      const sealed = vault.seal(id, vault.generate());
      const { chainId } = ground;
      const made = await insertQueuedNft(tx, { id, companyId, rwaId, sealed, chainId, recipient, data });
      if (!made) throw problem('rwa_not_found');
      await ask(tx, id);
      return id;
    },
  };
}

/** @throws problem when the mint that was accepted before is over, or for another recipient */
function assertSameMint({ state, recipient }: MintCandidate, wanted: string | undefined): void {
  if (state === 'minted') throw problem('nft_already_minted');
  if (wanted === undefined) throw recipientRequired();
  if (recipient?.toLowerCase() !== wanted.toLowerCase()) throw problem('nft_already_queued');
}

/** The recipient of a mint that may be accepted. @throws problem with what does not allow it */
function groundFor({ isClaimable, isSupported, chainId }: MintGround, recipient: string | undefined): string {
  if (!isClaimable) throw problem('rwa_not_claimable');
  if (!isSupported) throw problem('minting_unsupported', { chainId });
  if (recipient === undefined) throw recipientRequired();
  return recipient;
}

const recipientRequired = () =>
  problem('recipient_required', {}, inBody('/recipient', 'Recipient is required'));

const inBody = (pointer: string, message: string) => ({
  errors: [{ in: 'body' as const, pointer, message }],
});

async function refuseSecret(tx: Tx, nftId: string): Promise<MintAnswer> {
  const wasAllowed = await countWrongSecret(tx, nftId);
  const fault = inBody('/secret', 'Secret is invalid');
  const refusal = wasAllowed ? problem('secret_invalid', {}, fault) : await lockedProblem(tx, nftId);
  return { outcome: 'refused', refusal };
}

async function lockedProblem(tx: Tx, nftId: string): Promise<ProblemError> {
  return problem('secret_locked', {}, { headers: { 'Retry-After': String(await secondsLocked(tx, nftId)) } });
}
