import { zeroAddress } from '../../../chain/address.ts';
import type { HistoryRecord } from '../../shared/provider.ts';
import { type Flow, type Flows, flowsOf, isBurned, isMinted, isNft } from './flows.ts';
import { isDeposit, isWithdrawal } from './methods.ts';
import { isBelievable } from './spam.ts';
import type { WalletTransaction } from './stored-moves.ts';
import { assetsText, assetText, shortAddress, symbolOf, type Wording } from './wording.ts';

export type Category = HistoryRecord['category'];

/** The part of a row that the rules read: one transaction as its wallet sees it. */
export type DescribedRow = Pick<WalletTransaction, 'wallet' | 'transaction' | 'moves'>;

/** The facts of a transaction, from its wallet's point of view, on which the rules depend. */
type View = Flows & {
  readonly row: DescribedRow;
  /** The wallet sent the transaction. */
  readonly signed: boolean;
  readonly nftOuts: readonly Flow[];
  readonly nftIns: readonly Flow[];
  /** Native asset and ERC-20 tokens. */
  readonly coinOuts: readonly Flow[];
  readonly coinIns: readonly Flow[];
};

type Rule = {
  readonly category: Category;
  readonly when: (view: View) => boolean;
  readonly summary: (view: View, wording: Wording) => string;
};

const some = (list: readonly unknown[]) => list.length > 0;
const none = (flows: readonly Flow[]) => flows.length === 0;
const kindOf = (kind: Flow['asset']['kind']) => (flow: Flow) => flow.asset.kind === kind;
const to = (flows: readonly Flow[]) => shortAddress(flows[0]?.other ?? '');

const sent = (view: View, wording: Wording) => `Sent ${assetsText(view.outs, wording)} to ${to(view.outs)}`;
const received = (view: View, wording: Wording) =>
  `Received ${assetsText(view.ins, wording)} from ${to(view.ins)}`;

/** The first rule that is true decides. The portal's guide history.md has the same rules in words. */
const rules: readonly Rule[] = [
  {
    category: 'contract interaction',
    when: ({ row }) => !row.transaction.succeeded,
    summary: ({ signed }) =>
      signed ? 'Signed a transaction that failed' : 'Called by a transaction that failed',
  },
  {
    category: 'borrow',
    when: ({ row, coinIns }) => row.moves.borrowed && some(coinIns),
    summary: ({ coinIns }, wording) => {
      // Next to the borrowed asset there may be a new token for the debt. Some markets mint what they lend.
      const lent = coinIns.filter((flow) => !isMinted(flow));
      return `Borrowed ${assetsText(some(lent) ? lent : coinIns, wording)}`;
    },
  },
  {
    category: 'airdrop',
    when: ({ row, signed, outs, ins }) => !signed && row.moves.recipients > 0 && none(outs) && some(ins),
    summary: ({ ins }, wording) => `Received an airdrop of ${assetsText(ins, wording)}`,
  },
  {
    category: 'nft purchase',
    when: ({ nftIns, nftOuts, coinOuts }) =>
      some(nftIns) && none(nftOuts) && some(coinOuts) && !nftIns.every(isMinted),
    summary: ({ nftIns, coinOuts }, wording) =>
      `Bought ${assetsText(nftIns, wording)} for ${assetsText(coinOuts, wording)}`,
  },
  {
    category: 'nft sale',
    when: ({ nftIns, nftOuts, coinIns }) =>
      some(nftOuts) && none(nftIns) && some(coinIns) && !nftOuts.every(isBurned),
    summary: ({ nftOuts, coinIns }, wording) =>
      `Sold ${assetsText(nftOuts, wording)} for ${assetsText(coinIns, wording)}`,
  },
  {
    category: 'mint',
    when: ({ nftIns }) => some(nftIns) && nftIns.every(isMinted),
    summary: ({ nftIns }, wording) => `Minted ${assetsText(nftIns, wording)}`,
  },
  {
    category: 'deposit',
    when: ({ coinOuts, coinIns }) => some(coinOuts) && some(coinIns) && coinIns.every(isMinted),
    summary: ({ coinOuts }, wording) => `Deposited ${assetsText(coinOuts, wording)}`,
  },
  {
    category: 'withdraw',
    when: ({ coinOuts, coinIns }) => some(coinIns) && some(coinOuts) && coinOuts.every(isBurned),
    summary: ({ coinIns }, wording) => `Withdrew ${assetsText(coinIns, wording)}`,
  },
  {
    category: 'token swap',
    when: ({ outs, ins }) => some(outs) && some(ins),
    summary: ({ outs, ins }, wording) =>
      `Swapped ${assetsText(outs, wording)} for ${assetsText(ins, wording)}`,
  },
  {
    category: 'deposit',
    when: ({ row, signed, coinOuts, ins }) =>
      signed && some(coinOuts) && none(ins) && isDeposit(row.transaction.selector),
    summary: ({ coinOuts }, wording) => `Deposited ${assetsText(coinOuts, wording)}`,
  },
  {
    category: 'withdraw',
    when: ({ row, signed, coinIns, outs }) =>
      signed && some(coinIns) && none(outs) && isWithdrawal(row.transaction.selector),
    summary: ({ coinIns }, wording) => `Withdrew ${assetsText(coinIns, wording)}`,
  },
  {
    category: 'mint',
    when: ({ outs, ins }) =>
      none(outs) && some(ins) && ins.every((flow) => isMinted(flow) && !isNative(flow)),
    summary: ({ ins }, wording) => `Minted ${assetsText(ins, wording)}`,
  },
  {
    category: 'burn',
    when: ({ outs, ins }) =>
      none(ins) && some(outs) && outs.every((flow) => isBurned(flow) && !isNative(flow)),
    summary: ({ outs }, wording) => `Burned ${assetsText(outs, wording)}`,
  },
  { category: 'nft send', when: ({ nftOuts }) => some(nftOuts), summary: sent },
  { category: 'nft receive', when: ({ nftIns }) => some(nftIns), summary: received },
  { category: 'token send', when: ({ outs }) => outs.some(kindOf('erc20')), summary: sent },
  { category: 'token receive', when: ({ ins }) => ins.some(kindOf('erc20')), summary: received },
  { category: 'send', when: ({ outs }) => some(outs), summary: sent },
  { category: 'receive', when: ({ ins }) => some(ins), summary: received },
  {
    category: 'contract interaction',
    when: ({ row }) => some(row.moves.delegates) && lastApproval(row) === undefined,
    summary: ({ row }) => sentence(delegationText(row.moves.delegates)),
  },
  {
    category: 'approve',
    when: ({ row }) => lastApproval(row)?.granted === true,
    summary: approvalText('Approved'),
  },
  {
    category: 'revoke',
    when: ({ row }) => lastApproval(row)?.granted === false,
    summary: approvalText('Revoked'),
  },
  {
    category: 'contract interaction',
    when: ({ row }) => row.transaction.feePayer === row.wallet,
    summary: () => 'Paid the fee of a transaction',
  },
  {
    category: 'contract interaction',
    when: ({ row, signed }) => !signed && isOnlyNamed(row),
    summary: () => 'Named in a transfer that did not happen',
  },
  {
    category: 'contract interaction',
    when: ({ row, signed }) => !signed && some(row.moves.approvals),
    summary: () => 'Named in an approval that the account did not sign',
  },
  {
    category: 'send',
    when: ({ row, signed }) => signed && isPlain(row),
    summary: ({ row }, { currency }) =>
      `Sent 0 ${currency.symbol} to ${shortAddress(row.transaction.to ?? '')}`,
  },
  {
    category: 'receive',
    when: ({ row, signed }) => !signed && isPlain(row),
    summary: ({ row }, { currency }) =>
      `Received 0 ${currency.symbol} from ${shortAddress(row.transaction.from)}`,
  },
  {
    category: 'contract interaction',
    when: ({ row }) => row.transaction.created !== null,
    summary: ({ row }) => `Created contract ${shortAddress(row.transaction.created ?? '')}`,
  },
  {
    category: 'contract interaction',
    when: ({ signed }) => signed,
    summary: () => 'Signed a transaction',
  },
];

const otherwise = { category: 'contract interaction', summary: 'Took part in a transaction' } as const;

/** Returns the category alone. It depends on nothing but the row. */
export function categoryOf(row: DescribedRow): Category {
  const view = viewOf(row);
  return (rules.find(({ when }) => when(view)) ?? otherwise).category;
}

/** Returns category and summary of a transaction for its wallet. */
export function describeTransaction(
  row: DescribedRow,
  wording: Wording,
): { readonly category: Category; readonly summary: string } {
  const view = viewOf(row);
  const rule = rules.find(({ when }) => when(view));
  if (rule === undefined) return otherwise;
  const summary = rule.summary(view, wording);
  const delegation = delegationText(row.moves.delegates);
  // A delegate can do anything in the account's name, so every summary names it.
  const end = summary.endsWith(delegation.slice(1)) ? '' : `, ${delegation}`;
  return { category: rule.category, summary: `${shortened(summary, mostCharacters - end.length)}${end}` };
}

const mostCharacters = 120;

function shortened(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most - 1).toWellFormed()}…`;
}

/** EIP-7702: empty without a delegation. */
function delegationText(delegates: readonly string[]): string {
  const last = delegates.at(-1);
  if (last === undefined) return '';
  return last === zeroAddress
    ? 'ended the delegation of the account'
    : `delegated the account to ${shortAddress(last)}`;
}

function sentence(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function viewOf(row: DescribedRow): View {
  const { outs, ins } = flowsOf(row.moves, row.wallet);
  return {
    row,
    signed: row.transaction.from === row.wallet,
    outs,
    ins,
    nftOuts: outs.filter(isNft),
    nftIns: ins.filter(isNft),
    coinOuts: outs.filter((flow) => !isNft(flow)),
    coinIns: ins.filter((flow) => !isNft(flow)),
  };
}

function isNative({ asset }: Flow): boolean {
  return asset.kind === 'native';
}

/** No call, no value, no creation: an empty transfer. */
function isPlain({ transaction }: DescribedRow): boolean {
  return transaction.selector === null && transaction.to !== null && transaction.value === 0n;
}

/** Returns whether the wallet only has transfers that are logged and did not happen. */
function isOnlyNamed({ moves: { native, erc20, nft } }: DescribedRow): boolean {
  const logged = [...erc20, ...nft];
  return native.length === 0 && some(logged) && logged.every(({ verification }) => verification === 'forged');
}

function lastApproval({ moves }: DescribedRow) {
  return moves.approvals.findLast(isBelievable);
}

// Wallets write half of the largest amount or more for an unlimited approval.
const unlimited = 2n ** 255n;

function approvalText(verb: 'Approved' | 'Revoked'): Rule['summary'] {
  return ({ row }, wording) => {
    const approval = lastApproval(row);
    if (approval === undefined) return verb;
    const { kind, token, value, granted } = approval;
    const symbol = symbolOf(token, wording.texts);
    if (kind === 'all') return `${verb} all ${symbol}`;
    if (kind === 'token') {
      return `${verb} ${assetText({ asset: { kind: 'nft', token, tokenId: value }, amount: 1n }, wording)}`;
    }
    if (!granted) return `${verb} ${symbol}`;
    if (value >= unlimited) return `${verb} unlimited ${symbol}`;
    return `${verb} ${assetText({ asset: { kind: 'erc20', token }, amount: value }, wording)}`;
  };
}
