import type { Database } from '../../contract/transaction.ts';
import type { Actor } from '../../db/audit-store.ts';
import { inTransaction } from '../../db/transaction.ts';
import { ProblemError, problem } from '../../errors.ts';
import type { ClaimSecretVault } from '../assets/claim-secret.ts';
import {
  allowedAttempts,
  countWrongSecrets,
  findSecretAttempts,
  noAttempts,
} from '../assets/secret-attempt-store.ts';
import { lockCandidates } from './eligibility-store.ts';
import { type ClaimProof, findHolderClaim, type HolderClaim } from './holder-claim-store.ts';
import type { MintAcceptor } from './mint-acceptor.ts';
import { refuseSecret, secretLocked } from './mint-decision.ts';
import { refuseRecipient } from './recipient.ts';
import { findContractRecipients } from './recipient-store.ts';
import { countUnknownClaim } from './unknown-claim-store.ts';

type Held = { readonly nftId: string; readonly secret: string };

/**
 * What whoever holds the secret of an NFT may do without a key. A wrong secret, an unknown NFT and one whose RWA did
 * not opt in are refused alike: `claim_not_found` five times in 15 minutes, then `secret_locked`.
 */
export type HolderClaims = {
  /** What there is to claim. @throws problem `claim_not_found` or `secret_locked` */
  read(held: Held): Promise<HolderClaim>;
  /**
   * Checks a recipient as a claim would, and claims nothing.
   * @param held.recipient in EIP-55
   * @throws problem `recipient_unusable`, or those of {@link HolderClaims.read}
   */
  check(held: Held & { readonly recipient: string }): Promise<HolderClaim>;
  /**
   * Accepts the mint to a recipient, by the rules of the company's own requests.
   * @param claim recipient in EIP-55
   * @throws problem with the reason for which it is refused
   */
  claim(claim: Held & { readonly recipient: string; readonly by: Actor }): Promise<HolderClaim>;
};

type Deps = { readonly db: Database; readonly vault: ClaimSecretVault; readonly mints: MintAcceptor };

export function createHolderClaims({ db, vault, mints }: Deps): HolderClaims {
  const find = async (nftId: string) => (await findHolderClaim(db, nftId)) ?? refuseUnknown(db, nftId);

  const open = async ({ nftId: id, secret }: Held) => {
    const nftId = id.toLowerCase();
    const found = await find(nftId);
    const { proof } = found;
    const refusal = refuseSecret(vault.open(nftId, proof.sealed), secret, proof.attempts);
    if (refusal?.code !== 'secret_invalid') return refusal === undefined ? found : fail(refusal);
    return fail(await refuseWrong({ db, vault }, proof, { nftId, secret }));
  };

  return {
    read: async (held) => (await open(held)).claim,

    async check({ recipient, ...held }) {
      const { claim } = await open(held);
      const contracts = await findContractRecipients(db, { recipients: [recipient] });
      const refusal = refuseRecipient(recipient, { contractAddress: claim.contractAddress, contracts });
      return refusal === undefined ? claim : fail(refusal);
    },

    async claim({ nftId: id, secret, recipient, by }) {
      const nftId = id.toLowerCase();
      const { companyId } = (await find(nftId)).proof;
      await mints
        .mint({ companyId, nftId, secret, recipient, by, idempotency: undefined })
        .catch((error: unknown) => fail(isSecretWrong(error) ? notFound() : error));
      return (await find(nftId)).claim;
    },
  };
}

const isSecretWrong = (error: unknown) => error instanceof ProblemError && error.code === 'secret_invalid';

const notFound = () => problem('claim_not_found');

function fail(error: unknown): never {
  throw error;
}

/** Counts a wrong secret as the company's own requests do: with the row locked, so that guesses side by side are seen. */
function refuseWrong(
  { db, vault }: Pick<Deps, 'db' | 'vault'>,
  { companyId }: ClaimProof,
  { nftId, secret }: Held,
): Promise<ProblemError> {
  return inTransaction(db, async (tx) => {
    const nft = (await lockCandidates(tx, companyId, [nftId])).get(nftId);
    if (nft === undefined) return notFound();
    const attempts = (await findSecretAttempts(tx, companyId, [nftId])).get(nftId) ?? noAttempts;
    const refusal = refuseSecret(vault.open(nftId, nft.sealed), secret, attempts);
    if (refusal !== undefined && refusal.code !== 'secret_invalid') return refusal;
    // A secret that was reissued this moment is right now; whoever has it asks again.
    if (refusal !== undefined) await countWrongSecrets(tx, new Map([[nftId, 1]]));
    return notFound();
  });
}

async function refuseUnknown(db: Database, nftId: string): Promise<never> {
  const { tries, secondsLeft } = await countUnknownClaim(db, nftId);
  throw tries > allowedAttempts ? secretLocked(secondsLeft) : notFound();
}
