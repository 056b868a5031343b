import type { Erc20Movement, NftMovement } from '../decode/domain.ts';
import type { WalletTransaction } from './stored-moves.ts';

/** What is known of a token by its name and by the operator's list. */
export type TokenTrust = 'verified' | 'spam' | 'unknown';

/** Takes the contract of a token. */
export type TrustOf = (token: string) => TokenTrust;

type Party = Pick<WalletTransaction, 'wallet' | 'transaction'>;
type SeenRow = Party & Pick<WalletTransaction, 'moves'>;
type Movement =
  | Pick<Erc20Movement, 'token' | 'verification' | 'unconsented' | 'value'>
  | Pick<NftMovement, 'token' | 'verification' | 'unconsented' | 'amount'>;

/**
 * Whether a movement of a token looks like spam to a wallet: it did not happen, it is of nothing and the wallet did not sign,
 * nobody has agreed to it, or its token looks like spam. What a listed contract logs happened.
 */
export function isSpamMove(move: Movement, { wallet, transaction }: Party, trustOf: TrustOf): boolean {
  if (move.verification === 'forged') return true;
  // Anybody can make a token log a transfer of zero from a wallet to an address that resembles a known one.
  if ('value' in move && move.value === 0n && transaction.from !== wallet) return true;
  const trust = trustOf(move.token);
  return trust !== 'verified' && (move.unconsented === true || trust === 'spam');
}

/** Whether a row looks like spam: its wallet did not sign it, and nothing but such movements is in it. */
export function isSpamRow({ wallet, transaction, moves }: SeenRow, trustOf: TrustOf): boolean {
  const { native, nft, erc20 } = moves;
  if (erc20.length + nft.length === 0 || native.length > 0 || transaction.from === wallet) return false;
  return [...erc20, ...nft].every((move) => isSpamMove(move, { wallet, transaction }, trustOf));
}
