import { least } from '../../../../base/bigint.ts';
import { bidAfterRejection, type Market } from '../../../../chain/minting/fees.ts';
import { costWithin, gasFor, mostGas, tokensWithin, transferGas } from '../../../../chain/minting/gas.ts';
import {
  betterOffer,
  hasUnmetFigure,
  hintOf,
  isReplaceable,
  type RefusalHint,
} from '../../../../chain/minting/refusal.ts';
import { balanceAfter, listInFlight } from '../../context/in-flight.ts';
import type { LaneContext } from '../../context/lane-context.ts';
import { memoryOf, type Refused } from '../../context/lane-memory.ts';
import { learn, learnTokens, quoteAt } from '../../context/market.ts';
import type { OpenTransaction } from '../../stores/transaction-store.ts';
import type { Look } from '../evidence/look.ts';
import type { Plan } from './replace.ts';

/** What a replacement is made from. */
export type Scene = {
  readonly look: Look;
  readonly last: Plan;
  readonly market: Market;
};

/**
 * Plans what nodes may accept in place of what they reject: what their words suggest. Where these suggest nothing, the
 * same transaction is sent again, and costs an eighth more each time that the rejection has lasted.
 */
export async function answerRefusal(
  scene: Scene,
  transaction: OpenTransaction,
  refused: Refused,
): Promise<Plan | undefined> {
  const { look, last, market } = scene;
  const { context } = look;
  const { looks, words, isAnswer } = refused;
  const hint: RefusalHint = isAnswer ? hintOf(words) : { first: 'again' };
  const isOfPrice = hint.first === 'price';
  const isSuggested = isReplaceable(hint, last, looks);
  const isLasting = !isOfPrice && hasLasted(look, transaction.id, refused);
  if (!isSuggested && !isLasting) return undefined;
  const before = (await listInFlight(context)).filter(({ nonce }) => nonce < transaction.nonce);
  const payable = (await balanceAfter(context, before)) / last.gasLimit;
  // With less money it waits until the transactions before it are mined.
  if (payable < last.fees.maxFeePerGas) return undefined;
  const cap = least(context.settings.feeCap, payable);
  const suggested = isSuggested
    ? await followHint(scene, hint, { cap, contract: transaction.contract, words })
    : undefined;
  const isLastOne = last.mints.length === 1 && isOfSize(hint);
  const lasting = () => (isLastOne ? leaveLastOut(scene, transaction, words) : dearer(last, market, cap));
  const plan = suggested ?? (isLasting ? await lasting() : undefined);
  const isExhausted = plan === undefined && (isOfPrice || isLasting);
  if (plan !== undefined || isExhausted)
    memoryOf(context.memory, transaction.id).refused = { looks, words, isAnswer, isExhausted };
  return plan;
}

// Ten minutes where a poll takes a second.
const leastPolls = 600;
// In a longer pause the chain could not be asked, and something else was wrong. A lane polls each five seconds at least.
const longestPauseMs = 60_000;

type Polled = {
  readonly context: Pick<LaneContext, 'memory' | 'now' | 'settings'>;
  readonly head: Pick<Look['head'], 'number'>;
};

/**
 * Whether an attempt has been rejected for so long, while the chain could be asked and made blocks, that its price may be
 * to blame.
 */
export function hasLasted({ context, head }: Polled, id: string, refused: Refused): boolean {
  const { memory, now, settings } = context;
  const polledAt = now();
  const { lasting } = refused;
  const isOngoing = lasting !== undefined && polledAt - lasting.polledAt <= longestPauseMs;
  const { at, block } = isOngoing ? lasting : { at: polledAt, block: head.number };
  memoryOf(memory, id).refused = { ...refused, lasting: { at, block, polledAt } };
  const isLong = polledAt - at >= leastPolls * settings.pollMs;
  return isLong && head.number - block >= BigInt(settings.stuckBlocks);
}

function dearer(last: Plan, market: Market, cap: bigint): Plan | undefined {
  const fees = bidAfterRejection(last.fees, market, cap);
  return fees && { ...last, fees };
}

/** Plans what the words of nodes suggest, and remembers it for transactions to come. */
async function followHint(
  scene: Scene,
  hint: RefusalHint,
  { cap, ...refused }: { readonly cap: bigint; readonly contract: string; readonly words: string },
): Promise<Plan | undefined> {
  const {
    look: { context, head },
    last,
    market,
  } = scene;
  const most = mostGas({ blockGasLimit: head.gasLimit, blockShare: 100 });
  const offer = betterOffer(last, market, hint, { cap, mostGas: most });
  if (offer !== undefined) {
    if (hint.first === 'type') learn(context, { isLegacy: true });
    if (hint.first === 'price' && hasUnmetFigure(hint, last)) learn(context, { tip: hint.figure ?? 0n });
    return { ...last, ...offer };
  }
  return isOfSize(hint) && last.mints.length > 1 ? halve(scene, hint, refused) : undefined;
}

const isOfSize = ({ first }: RefusalHint): boolean => first === 'size' || first === 'gas';

/** Leaves the last NFT out: what nodes take no mint of must not keep the mints of others behind it. The contract rests. */
async function leaveLastOut(
  { look: { context, head }, last }: Scene,
  { contract }: OpenTransaction,
  words: string,
): Promise<Plan> {
  learnTokens(context, contract, 0);
  const detail = `Left out until its nonce is final, since no node takes one mint of ${contract}. Nodes said: ${words}`;
  const fees = (await quoteAt(context, head)) ?? last.fees;
  return { ...withMints(last, 0), fees, note: { reason: 'broadcast_refused', detail } };
}

/** Leaves half of the NFTs out, or as many as a bound in the text wants. */
async function halve(
  { look: { context, head }, last }: Scene,
  { first, figure, mostCost }: RefusalHint,
  { contract, words }: { readonly contract: string; readonly words: string },
): Promise<Plan> {
  const count = last.mints.length;
  // When the size is to blame, the price may fall again.
  const present = first === 'size' ? await quoteAt(context, head) : undefined;
  const fees = present ?? last.fees;
  const gas = mostCost === undefined ? (figure ?? 0n) : mostCost / (fees.maxFeePerGas || 1n);
  const fitting = tokensWithin(costWithin(last.gasLimit, count), gas);
  const tokens = fitting > 0 && fitting < count ? fitting : Math.floor(count / 2);
  learnTokens(context, contract, tokens);
  const detail = `Left out of a smaller transaction, until its nonce is final. Nodes said: ${words}`;
  return { ...withMints(last, tokens), fees, note: { reason: 'broadcast_refused', detail } };
}

/** The same for the first so many NFTs. */
export function withMints({ fees, gasLimit, mints }: Plan, tokens: number): Plan {
  const gas = tokens === 0 ? transferGas : gasFor(costWithin(gasLimit, mints.length), tokens);
  return { mints: mints.slice(0, tokens), gasLimit: gas, fees };
}
