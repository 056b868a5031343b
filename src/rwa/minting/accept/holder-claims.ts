import { ProblemError, problem } from '../../../base/errors.ts';
import type { Database } from '../../../contract/transaction.ts';
import type { Actor } from '../../../db/records/audit-store.ts';
import { type ClaimSecretVault, isSecretForm, sameSecret, sealNewSecret } from '../../assets/claim-secret.ts';
import { refuseMoreWrong, type SecretCaller } from '../../assets/wrong-secret-store.ts';
import { findClaimProof, findHolderClaim, type HolderClaim } from './holder-claim-store.ts';
import type { MintAcceptor } from './mint-acceptor.ts';
import { refuseRecipient } from './recipient.ts';
import { findContractRecipients } from './recipient-store.ts';

type Held = { readonly nftId: string; readonly secret: string; readonly caller: SecretCaller };

/**
 * What the owner of the secret of an NFT may do without a key. A wrong secret and an unknown NFT are rejected alike, after
 * the same statements: `claim_not_found`, then `secret_locked` for this caller. Only the right secret of an NFT whose RWA
 * did not opt in is `claim_not_open`.
 */
export type HolderClaims = {
  /** What there is to claim. @throws problem `claim_not_found`, `claim_not_open` or `secret_locked` */
  read(held: Held): Promise<HolderClaim>;
  /**
   * Checks a recipient as a claim would, and claims nothing.
   * @param held.recipient in EIP-55
   * @throws problem `recipient_unusable`, or the problems of {@link HolderClaims.read}
   */
  check(held: Held & { readonly recipient: string }): Promise<HolderClaim>;
  /**
   * Accepts the mint to a recipient, by the rules of the company's own requests.
   * @param claim recipient in EIP-55
   * @throws problem with the reason for which it is rejected
   */
  claim(claim: Held & { readonly recipient: string; readonly by: Actor }): Promise<HolderClaim>;
};

type Deps = {
  readonly db: Database;
  readonly vault: ClaimSecretVault;
  /** Opens a secret; empty where it is damaged, so that nobody can distinguish such an NFT from others. */
  readonly openSecret: (nft: Pick<Proof, 'id' | 'sealed'>) => string;
  readonly mints: MintAcceptor;
};

type Proof = NonNullable<Awaited<ReturnType<typeof findClaimProof>>>;

export function createHolderClaims({ db, vault, openSecret, mints }: Deps): HolderClaims {
  // Opened where there is no secret to check, since that takes time.
  const standIn = sealNewSecret(vault);

  const prove = async ({ nftId, secret, caller }: Held): Promise<Proof> => {
    // It says nothing of the NFT, so nothing is read.
    if (!isSecretForm(secret)) throw notFound();
    const proof = await findClaimProof(db, nftId);
    const isSame = sameSecret(openSecret(proof ?? standIn), secret);
    if (proof === undefined || !isSame) {
      throw (await refuseMoreWrong(db, { nftId, secret, caller })) ?? notFound();
    }
    if (!proof.isOpen) throw notOpen();
    return proof;
  };

  const find = async ({ id }: Proof): Promise<HolderClaim> => {
    const claim = await findHolderClaim(db, id);
    if (claim === undefined) throw notOpen();
    return claim;
  };

  return {
    read: async (held) => find(await prove(held)),

    async check({ recipient, ...held }) {
      const claim = await find(await prove(held));
      const contracts = await findContractRecipients(db, { recipients: [recipient] });
      const refusal = refuseRecipient(recipient, { contractAddress: claim.contractAddress, contracts });
      if (refusal !== undefined) throw refusal;
      return claim;
    },

    async claim({ recipient, by, ...held }) {
      const proof = await prove(held);
      const { companyId, id: nftId } = proof;
      await mints
        .mint({ ...held, companyId, nftId, recipient, by, idempotency: undefined })
        .catch((error: unknown) => {
          // The secret was replaced this moment.
          throw isSecretWrong(error) ? notFound() : error;
        });
      return find(proof);
    },
  };
}

const isSecretWrong = (error: unknown) => error instanceof ProblemError && error.code === 'secret_invalid';

const notFound = () => problem('claim_not_found');
const notOpen = () => problem('claim_not_open');
