import { type ProblemError, problem } from '../../../base/errors.ts';
import { type ClaimSecretVault, sameSecret } from '../../assets/claim-secret.ts';
import type { Eligibility, MintCandidate } from './eligibility-store.ts';
import { refuseRecipient } from './recipient.ts';

/* The outcome of a request, decided from rows that were read. Nothing here reads or writes the database. */

/** `queued`: the mint is new. `known`: it was accepted before. `replayed`: so was this very request. */
export type MintOutcome =
  | { readonly kind: 'queued'; readonly nftId: string; readonly chainId: string; readonly recipient: string }
  | { readonly kind: 'known' | 'replayed'; readonly nftId: string }
  | { readonly kind: 'refused'; readonly refusal: ProblemError }
  | { readonly kind: 'failed'; readonly error: unknown };

type Attempt = { readonly secret: string; readonly recipient: string | undefined };

/**
 * Decides on the requests for one NFT, one after the other: each sees the outcome of the request before.
 * @param contracts the NFT contracts among the recipients and the treasury
 */
export function createNftDecision(
  vault: ClaimSecretVault,
  nft: MintCandidate,
  contracts: ReadonlySet<string>,
): (attempt: Attempt) => MintOutcome {
  const secret = vault.open(nft.id, nft.sealed);
  let present = nft;
  return ({ secret: given, recipient: named }) => {
    if (!sameSecret(secret, given)) return refuse(secretInvalid());
    if (present.state !== 'unclaimed' && present.state !== 'failed') return decideKnown(present, named);
    const outcome = decideEligible(nft, nft.id, { named, contracts });
    if (outcome.kind === 'queued') present = { ...nft, state: 'queued', recipient: outcome.recipient };
    return outcome;
  };
}

/** Of an NFT that nobody has asked to mint, or whose mint failed. */
export function decideEligible(
  eligibility: Eligibility,
  nftId: string,
  { named, contracts }: { readonly named: string | undefined; readonly contracts: ReadonlySet<string> },
): MintOutcome {
  const { isArchived, isClaimable, isSupported, chainId, contractAddress, treasury } = eligibility;
  if (isArchived) return refuse(problem('rwa_archived'));
  if (!isClaimable) return refuse(problem('rwa_not_claimable'));
  if (!isSupported) return refuse(problem('minting_unsupported', { chainId }));
  const reason = eligibility.contractFault;
  if (reason !== null) return refuse(problem('contract_unmintable', { address: contractAddress, reason }));
  const recipient = named ?? treasury;
  if (recipient === null) return refuse(recipientRequired());
  const whose = named === undefined ? ', the treasury of the company' : '';
  const refusal = refuseRecipient(recipient, { contractAddress, contracts }, whose);
  if (refusal !== undefined) return refuse(refusal);
  return { kind: 'queued', nftId, chainId, recipient };
}

/** Of an NFT whose mint was accepted before: the same request again is accepted, without a change. */
function decideKnown(nft: MintCandidate, named: string | undefined): MintOutcome {
  if (nft.state === 'minted') return refuse(problem('nft_already_minted'));
  const recipient = named ?? nft.treasury;
  if (recipient === null) return refuse(recipientRequired());
  const isSame = nft.recipient?.toLowerCase() === recipient.toLowerCase();
  return isSame ? { kind: 'known', nftId: nft.id } : refuse(problem('nft_already_queued'));
}

export const isSecretInvalid = (outcome: MintOutcome | undefined) =>
  outcome?.kind === 'refused' && outcome.refusal.code === 'secret_invalid';

export const refuse = (refusal: ProblemError): MintOutcome => ({ kind: 'refused', refusal });

const recipientRequired = () =>
  problem('recipient_required', {}, inBody('/recipient', 'Recipient is required'));

const secretInvalid = () => problem('secret_invalid', {}, inBody('/secret', 'Secret is invalid'));

const inBody = (pointer: string, message: string) => ({
  errors: [{ in: 'body' as const, pointer, message }],
});
