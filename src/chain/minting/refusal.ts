import { asLegacy, bid, bidAfterRejection, type Fees, type Market, quote, withTip } from './fees.ts';

/**
 * What to try about a transaction that every node rejects:
 * - `wait`: a node says that it has the transaction;
 * - `nonce`: a node says that the chain has used the nonce, which receipts show;
 * - `price`: pay more;
 * - `size`: mint fewer NFTs;
 * - `gas`: give it more gas;
 * - `type`: use the oldest type of transaction;
 * - `again`: send the same transaction again.
 */
type Step = 'wait' | 'nonce' | 'price' | 'size' | 'gas' | 'type' | 'again';

export type RefusalHint = {
  readonly first: Step;
  /** The figure in the text: the least tip in wei, the most gas or the least gas, as the step needs it. */
  readonly figure?: bigint | undefined;
  /** The most that the whole transaction may cost, in wei. */
  readonly mostCost?: bigint | undefined;
};

// A text never decides what is true. The first pattern that matches counts.
const texts: readonly (readonly [Step, RegExp])[] = [
  [
    'wait',
    /already ?known|known transaction|already ?(been )?imported|already in (the )?(pool|mempool)|already exists/i,
  ],
  ['nonce', /nonce (is )?too low|nonce has already been used|old ?nonce|Pool\(Stale\)/i],
  ['type', /transaction type|TxType/i],
  ['gas', /intrinsic|gas is too low|floor data gas/i],
  ['size', /exceeds the configur|fee cap exceeded|gas ?limit|oversized|too (big|large)|size exceed/i],
  ['price', /price|fee(?!d)|\btips?\b/i],
];

// It may name gas and prices. Another node may say something else at the same time.
const funds = /fund|balance|afford|upfront/i;

/** @param said what the nodes said, with `; ` between the parts */
export function hintOf(said: string): RefusalHint {
  const words = said
    .split('; ')
    .filter((part) => !funds.test(part))
    .join('; ');
  const first = texts.find(([, pattern]) => pattern.test(words))?.[0] ?? 'again';
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

/**
 * Whether the text suggests another transaction, and it is time for that: after three polls in a row, or at once for a
 * figure in the text.
 */
export const isReplaceable = (hint: RefusalHint, last: Offer, looks: number): boolean =>
  ['price', 'size', 'gas', 'type'].includes(hint.first) &&
  (looks >= looksBeforeReplacing || hasUnmetFigure(hint, last));

export type Offer = { readonly fees: Fees; readonly gasLimit: bigint };

type Bounds = {
  /** The most that a unit of gas may cost, in wei. */
  readonly cap: bigint;
  /** The most gas that a transaction may have. */
  readonly mostGas: bigint;
};

/**
 * Returns what nodes may accept in place of what they reject, as the text suggests. Only a text about a price raises the
 * price: to a figure in the text at once, otherwise by an eighth.
 * @returns undefined when the text suggests nothing, or the bounds do not allow it
 */
export function betterOffer(
  last: Offer,
  market: Market,
  hint: RefusalHint,
  bounds: Bounds,
): Offer | undefined {
  const { first, figure = 0n } = hint;
  if (first === 'price') {
    const fees = hasUnmetFigure(hint, last)
      ? bid(last.fees, withTip(market, figure), bounds.cap)
      : bidAfterRejection(last.fees, market, bounds.cap);
    return fees && { ...last, fees };
  }
  if (first === 'type' && last.fees.maxPriorityFeePerGas !== null) {
    const fees = quote(asLegacy(market), bounds.cap);
    return fees && { ...last, fees };
  }
  if (first !== 'gas') return undefined;
  const gasLimit = 2n * last.gasLimit > figure ? 2n * last.gasLimit : figure;
  return gasLimit <= bounds.mostGas ? { ...last, gasLimit } : undefined;
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
