import { problem } from '../../base/errors.ts';
import type { Address } from '../../chain/address.ts';
import { findFinalBlock } from '../../chain/finality-store.ts';
import { ChainUnreadError, readAtAgreedBlock } from '../../chain/holdings/agreed-block.ts';
import { isSignedByContract, isSignedByKey } from '../../chain/wallet-signature.ts';
import { findChallenge } from './challenge-store.ts';
import { type ChallengePlace, challengeText, nonceOf } from './challenge-text.ts';
import type { ReaderParts } from './holdings.ts';

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
  if (challenge.eventId !== eventId.toLowerCase()) throw proofInvalid('the challenge is for another event');
  if (challenge.wallet !== wallet.checksum) throw proofInvalid('the challenge is for another wallet');
  if (challengeText(place, challenge) !== proof.message)
    throw proofInvalid('the text differs from the challenge');
  if (challenge.isExpired) throw proofInvalid('the challenge has expired');
  const isSigned =
    isSignedByKey(wallet, proof.message, proof.signature) ||
    (await isSignedOnChain(parts, challenge.chainId, wallet, proof));
  if (!isSigned) throw proofInvalid('the signature is not that of the wallet');
  return nonce;
}

async function isSignedOnChain(
  { db, networks, clients }: ReaderParts,
  chainId: string,
  wallet: Address,
  { message: text, signature }: Proof,
): Promise<boolean> {
  try {
    const network = await networks.find(chainId);
    if (network === undefined)
      throw new ChainUnreadError(`the network with chainId ${chainId} is not registered`);
    const known = await findFinalBlock(db, chainId);
    return await readAtAgreedBlock({ clients, network, known }, (node, { number }) =>
      isSignedByContract(node, number, wallet, { text, signature }),
    );
  } catch (cause) {
    if (!(cause instanceof ChainUnreadError)) throw cause;
    const { reason, retryAfterMs } = cause;
    throw problem('eligibility_unavailable', { reason }, { cause, retryAfterMs });
  }
}

const usedUp = 'the challenge is unknown, or was used';

/** The problem of a proof, with where it stands. */
export function proofInvalid(reason: string = usedUp) {
  const { message } = problem('proof_invalid', { reason });
  return problem('proof_invalid', { reason }, { errors: [{ in: 'body', pointer: '/proof', message }] });
}
