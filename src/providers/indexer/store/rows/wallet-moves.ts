import { zeroAddress } from '../../../../chain/address.ts';
import type { StoredMoves } from '../../classify/stored-moves.ts';
import type { IndexedTransaction } from '../../decode/domain.ts';

// With fewer recipients of equal amounts, a token that goes to several accounts is a swap with fees, not an airdrop.
const manyRecipients = 5;

/**
 * Returns the movements of a transaction by wallet. Its wallets are the sender, who pays the fee, and the called or
 * created contract. Others are senders, recipients and operators of transfers, owners of approvals, borrowers who
 * agreed, and accounts whose delegation is set. The zero address is left out.
 */
export function walletMoves(transaction: IndexedTransaction): ReadonlyMap<string, StoredMoves> {
  const moves = new Map<string, Draft>();
  const draft = (wallet: string): Draft => {
    const present = moves.get(wallet);
    if (present !== undefined) return present;
    const added = { native: [], erc20: [], nft: [], approvals: [], delegates: [], ...nothing };
    moves.set(wallet, added);
    return added;
  };

  for (const wallet of [transaction.from, transaction.feePayer, transaction.to, transaction.created]) {
    if (wallet !== null) draft(wallet);
  }
  for (const move of transaction.native) for (const wallet of sides(move)) draft(wallet).native.push(move);
  for (const move of transaction.erc20) for (const wallet of sides(move)) draft(wallet).erc20.push(move);
  for (const move of transaction.nft) {
    for (const wallet of sides(move)) draft(wallet).nft.push(move);
    if (move.operator !== null) draft(move.operator);
  }
  for (const approval of transaction.approvals) draft(approval.owner).approvals.push(approval);
  for (const borrower of transaction.borrowers) draft(borrower).borrowed = true;
  for (const { authority, delegate } of transaction.delegations) draft(authority).delegates.push(delegate);
  countRecipients(transaction, draft);
  moves.delete(zeroAddress);
  return moves;
}

const nothing = { borrowed: false, recipients: 0 };

type Draft = { -readonly [Key in keyof StoredMoves]: Mutable<StoredMoves[Key]> };
type Mutable<T> = T extends readonly (infer Item)[] ? Item[] : T;

function sides({ from, to }: { readonly from: string; readonly to: string }): string[] {
  return from === to ? [from] : [from, to];
}

function countRecipients({ erc20, nft }: IndexedTransaction, draft: (wallet: string) => Draft): void {
  if (erc20.length + nft.length < manyRecipients) return;
  const recipients = new Map<string, Set<string>>();
  const receive = (key: string, to: string) => {
    const known = recipients.get(key);
    if (known === undefined) recipients.set(key, new Set([to]));
    else known.add(to);
  };
  for (const { token, from, to, value } of erc20) if (value > 0n) receive(`${token}${from}${value}`, to);
  for (const { token, from, to, amount } of nft) if (amount > 0n) receive(`${token}${from}${amount}`, to);
  for (const wallets of recipients.values()) {
    if (wallets.size < manyRecipients) continue;
    for (const wallet of wallets) {
      const own = draft(wallet);
      own.recipients = Math.max(own.recipients, wallets.size);
    }
  }
}
