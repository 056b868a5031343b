import type { Erc20Movement, NftMovement } from '../decode/domain.ts';
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

/** Returns whether a row is spam: its wallet did not sign it, and it has nothing but such movements. */
export function isSpamRow({ wallet, transaction, moves }: SeenRow, trustOf: TrustOf): boolean {
  const { native, nft, erc20 } = moves;
  if (erc20.length + nft.length === 0 || native.length > 0 || transaction.from === wallet) return false;
  return [...erc20, ...nft].every((move) => isSpamMove(move, { wallet, transaction }, trustOf));
}
