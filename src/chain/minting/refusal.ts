import { asLegacy, type Fees, type Market, outbid, quote } from './fees.ts';

/**
 * What to try first about a transaction that every node rejects:
 * - `wait`: a node says that it has the transaction;
 * - `nonce`: a node says that the chain has used the nonce, which receipts show;
 * - `price`: pay more;
 * - `size`: mint fewer NFTs;
 * - `gas`: give it more gas;
 * - `type`: use the oldest type of transaction.
 */
type Step = 'wait' | 'nonce' | 'price' | 'size' | 'gas' | 'type';

export type RefusalHint = {
  readonly first: Step;
  /** The figure in the text: the least tip in wei, the most gas or the least gas, as the step needs it. */
  readonly figure?: bigint | undefined;
  /** The most that the whole transaction may cost, in wei. */
  readonly mostCost?: bigint | undefined;
};

/*
 * A text never decides what is true, nor whether a transaction is replaced: an unknown text only costs more attempts.
 */
const texts: readonly (readonly [Exclude<Step, 'price'>, RegExp])[] = [
  [
    'wait',
    /already ?known|known transaction|already ?(been )?imported|already in (the )?(pool|mempool)|already exists/i,
  ],
  ['nonce', /nonce (is )?too low|nonce has already been used|old ?nonce|Pool\(Stale\)/i],
  ['type', /transaction type|TxType/i],
  ['gas', /intrinsic|gas is too low|floor data gas/i],
  ['size', /exceeds the configur|fee cap exceeded|gas ?limit|oversized|too (big|large)|size exceed/i],
];

/** @param words what the nodes said */
export function hintOf(words: string): RefusalHint {
  const first = texts.find(([, pattern]) => pattern.test(words))?.[0] ?? 'price';
  switch (first) {
    case 'price':
      return {
        first,
        figure: weiOf(
          /.*(?:needed|required|minimum|minimal|at least)\D{0,20}?(\d+(?:\.\d+)?) ?(\w+)?/i,
          words,
        ),
      };
    case 'gas':
      return { first, figure: weiOf(/needed (\d+)/i, words) };
    case 'size': {
      const mostCost = weiOf(/cap \((\d+(?:\.\d+)?) ?(\w+)?\)/i, words, 18);
      return { first, mostCost, figure: weiOf(/(?:cap|limit of|maximum|gas limit):? ?(\d+)/i, words) };
    }
    default:
      return { first };
  }
}

/** Whether a text says that the node has the transaction, or that the chain has used the nonce. */
export const isSettled = (words: string): boolean => ['wait', 'nonce'].includes(hintOf(words).first);

// A single poll may meet a node that starts or lags.
const looksBeforeReplacing = 3;

/** Whether a transaction is replaced that nodes reject: after three polls in a row, or at once for a figure in the text. */
export const isReplaceable = (hint: RefusalHint, last: Offer, looks: number): boolean =>
  looks >= looksBeforeReplacing || hasUnmetFigure(hint, last);

export type Offer = { readonly fees: Fees; readonly gasLimit: bigint };

type Bounds = {
  /** The most that a unit of gas may cost, in wei. */
  readonly cap: bigint;
  /** The most gas that a transaction may have. */
  readonly mostGas: bigint;
};

/**
 * Returns what nodes may accept in place of what they reject: what the text suggests, otherwise a higher price.
 * @returns undefined when the bounds allow nothing
 */
export function betterOffer(
  last: Offer,
  market: Market,
  { first, figure }: RefusalHint,
  { cap, mostGas }: Bounds,
): Offer | undefined {
  if (first === 'type' && last.fees.maxPriorityFeePerGas !== null) {
    const fees = quote(asLegacy(market), cap);
    if (fees !== undefined) return { ...last, fees };
  }
  if (first === 'gas') {
    const gasLimit = 2n * last.gasLimit > (figure ?? 0n) ? 2n * last.gasLimit : (figure ?? 0n);
    if (gasLimit <= mostGas) return { ...last, gasLimit };
  }
  const leastTip = first === 'price' ? figure : undefined;
  // A node may have the transaction after all. That must not make it much dearer.
  const fees = outbid(last.fees, market, { cap, leastTip, isRefused: first !== 'wait' });
  return fees && { ...last, fees };
}

/** Whether a text has a figure that the attempt does not meet yet. */
export function hasUnmetFigure({ first, figure, mostCost }: RefusalHint, { fees, gasLimit }: Offer): boolean {
  const { maxFeePerGas, maxPriorityFeePerGas } = fees;
  if (first === 'price') return figure !== undefined && figure > (maxPriorityFeePerGas ?? maxFeePerGas);
  if (first === 'gas') return figure !== undefined && figure > gasLimit;
  if (mostCost !== undefined) return mostCost < gasLimit * maxFeePerGas;
  return figure !== undefined && figure < gasLimit;
}

/** Reads a number with its unit. @param decimals where the unit is neither wei nor gwei */
function weiOf(pattern: RegExp, words: string, decimals = 0): bigint | undefined {
  const [, amount, unit = ''] = pattern.exec(words) ?? [];
  if (amount === undefined) return undefined;
  const places = { wei: 0, gwei: 9 }[unit.toLowerCase()] ?? decimals;
  const [whole = '0', fraction = ''] = amount.split('.');
  return BigInt(whole + fraction.slice(0, places).padEnd(places, '0'));
}
