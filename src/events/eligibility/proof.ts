import { problem } from '../../base/errors.ts';
import type { Address } from '../../chain/address.ts';
import { isSignedByContract, isSignedByKey } from '../../chain/wallet-signature.ts';
import { atField } from '../event-rules.ts';
import { findChallenge } from './challenge-store.ts';
import { type ChallengePlace, challengeText, nonceOf } from './challenge-text.ts';
import { type ReaderParts, readNetwork } from './read-network.ts';

/** A text and its signature, as a caller sent them. */
export type Proof = { readonly message: string; readonly signature: string };

type Claim = {
  readonly companyId: string;
  readonly eventId: string;
  readonly wallet: Address;
  readonly proof: Proof;
};

/**
 * Checks that a wallet has signed a challenge for an event. It is used up later, by the transaction that admits.
 * @returns the nonce of the challenge
 * @throws ProblemError `proof_invalid`; `eligibility_unavailable` when no node can say whether a contract has signed
 */
export async function checkProof(
  parts: ReaderParts,
  place: ChallengePlace,
  { companyId, eventId, wallet, proof }: Claim,
): Promise<string> {
  const nonce = nonceOf(proof.message);
  if (nonce === undefined) throw proofInvalid('the text names no nonce of a challenge');
  const challenge = await findChallenge(parts.db, companyId, nonce);
  if (challenge === undefined) throw proofInvalid(usedUp);
  if (challenge.eventId !== eventId) throw proofInvalid('the challenge is for another event');
  if (challenge.wallet !== wallet.checksum) throw proofInvalid('the challenge is for another wallet');
  if (challengeText(place, challenge) !== proof.message)
    throw proofInvalid('the text differs from the challenge');
  if (challenge.isExpired) throw proofInvalid('the challenge has expired');
  const isSigned =
    isSignedByKey(wallet, proof.message, proof.signature) ||
    (await readNetwork(parts, challenge.chainId, (node, { number }) =>
      isSignedByContract(node, number, wallet, { text: proof.message, signature: proof.signature }),
    ));
  if (!isSigned) throw proofInvalid('the signature is not that of the wallet');
  return nonce;
}

const usedUp = 'the challenge is unknown, or was used';

/** The problem of a proof, with where it stands. */
export const proofInvalid = (reason: string = usedUp) =>
  atField(problem('proof_invalid', { reason }), '/proof');
