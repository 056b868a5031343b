import type { Approval, Erc20Movement, NftMovement } from '../decode/domain.ts';
import type { WalletTransaction } from './stored-moves.ts';

/** What the name of a token and the operator's list show of it. */
export type TokenTrust = 'verified' | 'spam' | 'unknown';

/** Takes the contract of a token. */
export type TrustOf = (token: string) => TokenTrust;

type Party = Pick<WalletTransaction, 'wallet' | 'transaction'>;
type SeenRow = Party & Pick<WalletTransaction, 'moves'>;
type Movement =
  | Pick<Erc20Movement, 'token' | 'verification' | 'unconsented' | 'value'>
  | Pick<NftMovement, 'token' | 'verification' | 'unconsented' | 'amount'>;

/**
 * Returns whether a movement is spam for a wallet. It is spam if it did not happen, or if it moves nothing and the
 * wallet did not sign. It is also spam if nobody agreed to it or the token advertises. Movements of a listed contract
 * happened.
 */
export function isSpamMove(move: Movement, { wallet, transaction }: Party, trustOf: TrustOf): boolean {
  if (move.verification === 'forged') return true;
  // Anybody can make a token log a transfer of zero from a wallet to an address that resembles a known address.
  if ('value' in move && move.value === 0n && transaction.from !== wallet) return true;
  const trust = trustOf(move.token);
  return trust !== 'verified' && (move.unconsented === true || trust === 'spam');
}

/** Returns whether an approval is believable: its owner signed it or is a contract, or the contract confirms it. */
export function isBelievable({
  unsigned,
  isOfContract,
  verification,
}: Pick<Approval, 'unsigned' | 'isOfContract' | 'verification'>): boolean {
  return unsigned === undefined || isOfContract === true || verification === 'state-checked';
}

/**
 * Returns whether a row is spam: its wallet did not sign it, and it has nothing but such movements and approvals. A delegation is never
 * hidden, because a delegate can do anything.
 */
export function isSpamRow({ wallet, transaction, moves }: SeenRow, trustOf: TrustOf): boolean {
  const { native, nft, erc20, approvals, delegates } = moves;
  if (native.length + delegates.length > 0 || transaction.from === wallet) return false;
  if (erc20.length + nft.length + approvals.length === 0) return false;
  return (
    [...erc20, ...nft].every((move) => isSpamMove(move, { wallet, transaction }, trustOf)) &&
    approvals.every((approval) => !isBelievable(approval) && trustOf(approval.token) !== 'verified')
  );
}
