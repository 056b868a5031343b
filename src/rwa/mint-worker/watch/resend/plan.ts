import { type Market, outbid, priceOf, quote, raise } from '../../../../chain/minting/fees.ts';
import { costWithin, gasFor, mostGas, tokensWithin, transferGas } from '../../../../chain/minting/gas.ts';
import { betterOffer, hintOf, isReplaceable, type RefusalHint } from '../../../../chain/minting/refusal.ts';
import { readSigned } from '../../../../chain/minting/signer.ts';
import { balanceAfter, listInFlight } from '../../context/in-flight.ts';
import { memoryOf, type Refused } from '../../context/lane-memory.ts';
import { learn, marketAt } from '../../context/market.ts';
import { readRawAttempt } from '../../stores/attempt-store.ts';
import { listOpenNfts } from '../../stores/transaction-nft-store.ts';
import type { OpenTransaction } from '../../stores/transaction-store.ts';
import type { Look } from '../evidence/look.ts';
import type { Plan } from './replace.ts';

/** What a replacement is made from. */
type Scene = {
  readonly look: Look;
  readonly last: Plan;
  readonly market: Market;
};

/**
 * Plans what replaces a transaction at its nonce. The cause is an operator who wants to leave NFTs out, nodes that reject the
 * transaction, or a market that asks for more while it waits.
 * @returns undefined when it stays as it is
 */
export async function planReplacement(look: Look, transaction: OpenTransaction): Promise<Plan | undefined> {
  const { context, head } = look;
  const { memory, settings } = context;
  const refused = memory.transactions.get(transaction.id)?.refused;
  const isToShrink = transaction.hasAskedOut || transaction.hasEnded;
  if (!isToShrink && refused === undefined && !isStuck(look, transaction)) return undefined;
  const [newest] = transaction.attempts;
  const { gasLimit, mints } = readSigned(await readRawAttempt(context.db, newest.hash));
  const last = { gasLimit, mints, fees: newest.fees };
  const scene = { look, last, market: await marketAt(context, head) };
  const without = isToShrink ? await leaveOut(scene, transaction) : undefined;
  if (without !== undefined) return without;
  // Above the cap the market is to blame, whatever the nodes say.
  const isAffordable = priceOf(scene.market) <= settings.feeCap;
  if (refused !== undefined && isAffordable) return answerRefusal(scene, transaction, refused);
  if (!isStuck(look, transaction)) return undefined;
  const fees = raise(last.fees, scene.market, settings.feeCap);
  return fees && { ...last, fees };
}

/** Whether the transaction has been without a block for so long that its fees may be to blame. */
function isStuck(
  { context: { memory, settings }, head, count }: Look,
  { id, nonce, attempts: [newest] }: OpenTransaction,
) {
  // A transaction that nodes may not have is not stuck. It is broadcast again before its fees rise.
  if (memory.transactions.get(id)?.broadcastAt === undefined) return false;
  const isBelowBaseFee = head.baseFee !== null && newest.fees.maxFeePerGas < head.baseFee;
  const blocksWaited = head.number - newest.sentAtBlock;
  return blocksWaited >= BigInt(settings.stuckBlocks) && (nonce === count || isBelowBaseFee);
}

/**
 * Leaves out NFTs that an operator has asked to mint by another transaction, and those that have ended. Where none is left it only
 * uses the nonce.
 */
async function leaveOut(
  {
    look: {
      context: { db, settings },
    },
    last,
    market,
  }: Scene,
  transaction: OpenTransaction,
): Promise<Plan | undefined> {
  const open = await listOpenNfts(db, transaction.id);
  const kept = new Set(open.filter(({ isAskedOut }) => !isAskedOut).map(({ tokenId }) => tokenId));
  const mints = last.mints.filter(({ tokenId }) => kept.has(tokenId));
  const higher = outbid(last.fees, market, { cap: settings.feeCap });
  // The bytes of what has ended are not sent again, even where no price outbids what nodes may have kept of them.
  const fees = higher ?? (transaction.hasEnded ? last.fees : undefined);
  if (mints.length === last.mints.length || fees === undefined) return undefined;
  const detail = 'It was taken out of its transaction, and waits until that nonce is final.';
  return { ...withMints(last, mints.length), mints, fees, note: { reason: 'left_out', detail } };
}

/**
 * Plans what nodes may accept in place of what they reject. What the text suggests comes first, then a higher price up to
 * the cap, then half of the batch.
 */
async function answerRefusal(
  scene: Scene,
  transaction: OpenTransaction,
  { looks, words }: Refused,
): Promise<Plan | undefined> {
  const { look, last, market } = scene;
  const { context, head } = look;
  const hint = hintOf(words);
  if (!isReplaceable(hint, last, looks)) return undefined;
  const before = (await listInFlight(context)).filter(({ nonce }) => nonce < transaction.nonce);
  const payable = (await balanceAfter(context, before)) / last.gasLimit;
  // With less money it waits until the transactions before it are mined.
  if (payable < last.fees.maxFeePerGas) return undefined;
  const known = memoryOf(context.memory, transaction.id);
  const note = (more: Partial<Refused>) => {
    known.refused = { looks, words, ...more };
  };
  note({});
  if (hint.first === 'size' && last.mints.length > 1) return halve(scene, hint, words);
  const cap = lower(context.settings.feeCap, payable);
  const most = mostGas({ blockGasLimit: head.gasLimit, blockShare: 100 });
  const offer = betterOffer(last, market, hint, { cap, mostGas: most });
  if (offer === undefined) {
    if (last.mints.length > 1) return halve(scene, hint, words);
    note({ isExhausted: true });
    return undefined;
  }
  const { maxPriorityFeePerGas: tip } = offer.fees;
  if (tip === null && last.fees.maxPriorityFeePerGas !== null) learn(context, { isLegacy: true });
  else if (hint.first === 'price' && hint.figure !== undefined && hint.figure <= cap)
    learn(context, { tip: hint.figure });
  if (tip !== null && offer.gasLimit === last.gasLimit) note({ raisedTo: tip });
  return { ...last, ...offer };
}

/** Leaves half of the NFTs out, or as many as a bound in the text wants. */
function halve(
  { look: { context }, last, market }: Scene,
  { first, figure, mostCost }: RefusalHint,
  words: string,
): Plan {
  const count = last.mints.length;
  // When the size is to blame, the price may fall again.
  const present = first === 'size' ? quote(market, context.settings.feeCap) : undefined;
  const fees = present ?? last.fees;
  const gas = mostCost === undefined ? (figure ?? 0n) : mostCost / (fees.maxFeePerGas || 1n);
  const fitting = tokensWithin(costWithin(last.gasLimit, count), gas);
  const tokens = fitting > 0 && fitting < count ? fitting : Math.floor(count / 2);
  learn(context, { tokens });
  const detail = `Left out of a smaller transaction, until its nonce is final. Nodes said: ${words}`;
  return { ...withMints(last, tokens), fees, note: { reason: 'broadcast_refused', detail } };
}

/** The same for the first so many NFTs. */
function withMints({ fees, gasLimit, mints }: Plan, tokens: number): Plan {
  const gas = tokens === 0 ? transferGas : gasFor(costWithin(gasLimit, mints.length), tokens);
  return { mints: mints.slice(0, tokens), gasLimit: gas, fees };
}

const lower = (a: bigint, b: bigint) => (a < b ? a : b);
