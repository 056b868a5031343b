import { bid, outbid, priceOf } from '../../../../chain/minting/fees.ts';
import { readSigned } from '../../../../chain/minting/signer.ts';
import { memoryOf } from '../../context/lane-memory.ts';
import { marketAt } from '../../context/market.ts';
import { readRawAttempt } from '../../stores/attempt-store.ts';
import { listOpenNfts } from '../../stores/transaction-nft-store.ts';
import type { OpenTransaction } from '../../stores/transaction-store.ts';
import type { Look } from '../evidence/look.ts';
import { answerRefusal, type Scene, withMints } from './answer-refusal.ts';
import type { Plan } from './replace.ts';

/**
 * Plans what replaces a transaction at its nonce. The cause is an operator who wants to leave NFTs out, a market that asks
 * for more while it waits, or nodes that reject the transaction that is next.
 * @returns undefined when it stays as it is
 */
export async function planReplacement(look: Look, transaction: OpenTransaction): Promise<Plan | undefined> {
  const { context, count, head } = look;
  const { refused } = memoryOf(context.memory, transaction.id);
  const rejection = transaction.nonce === count ? refused : undefined;
  const isWaiting = isStuck(look, transaction);
  const isToShrink = transaction.hasAskedOut || transaction.hasEnded;
  if (!isToShrink && rejection === undefined && !isWaiting) return undefined;
  const [newest] = transaction.attempts;
  const { gasLimit, mints } = readSigned(await readRawAttempt(context.db, newest.hash));
  const last = { gasLimit, mints, fees: newest.fees };
  const scene = { look, last, market: await marketAt(context, head) };
  const plan =
    (isToShrink ? await leaveOut(scene, transaction) : undefined) ??
    (isWaiting ? followMarket(scene, transaction) : undefined);
  // Above the cap the market is to blame, whatever the nodes say.
  const isAffordable = priceOf(scene.market) <= context.settings.feeCap;
  if (plan !== undefined || rejection === undefined || !isAffordable) return plan;
  return answerRefusal(scene, transaction, rejection);
}

/** Offers what the market asks. Where the cap does not allow that, it notes why the transaction stays. */
function followMarket({ look, last, market }: Scene, { id, nonce }: OpenTransaction): Plan | undefined {
  const { memory, settings } = look.context;
  const price = priceOf(market);
  const { maxFeePerGas } = last.fees;
  const fees = bid(last.fees, market, settings.feeCap);
  memoryOf(memory, id).tooDear =
    fees === undefined && maxFeePerGas < price
      ? `Gas costs ${price} wei; the transaction with nonce ${nonce} offers ${maxFeePerGas}, and ${settings.feeCap} is the most that may be paid.`
      : undefined;
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
  if (mints.length === last.mints.length) return undefined;
  // Where the price ends, nodes that have kept the attempt say so: a rejection may raise it further.
  const fees = outbid(last.fees, market, settings.feeCap) ?? last.fees;
  // An operator's wish does not lift the cap. The bytes of what has ended are not sent again, whatever the new ones cost.
  if (fees.maxFeePerGas > settings.feeCap && !transaction.hasEnded) return undefined;
  const detail = 'It was taken out of its transaction, and waits until that nonce is final.';
  return { ...withMints(last, mints.length), mints, fees, note: { reason: 'left_out', detail } };
}
