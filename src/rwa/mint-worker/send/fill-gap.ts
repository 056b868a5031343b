import { transferGas } from '../../../chain/minting/gas.ts';
import type { Head } from '../../../chain/minting/mint-node.ts';
import { broadcast } from '../broadcast.ts';
import type { LaneContext } from '../lane-context.ts';
import { limitsOf, marketAt } from '../market.ts';
import { quoteFor } from '../node-limits.ts';
import { attemptFacts } from '../step-facts.ts';
import { insertAttempt } from '../stores/attempt-store.ts';
import { findAskedFill, forgetAskedFill, inFencedTransaction, type Pause } from '../stores/lane-store.ts';
import { findNonceAfterGap, hasNonce, insertTransaction } from '../stores/transaction-store.ts';

/**
 * Fills a gap of nonces that nobody else fills: nonces that the chain has not used, below transactions of ours, which
 * cannot be mined until it has. Each is used by a transfer of nothing from the signer to itself, which is stored and
 * watched like any other transaction, and mints nothing.
 * @returns why the lane stands, while there is a gap
 */
export async function fillGap(context: LaneContext, head: Head): Promise<Pause | undefined> {
  const { db, lease, memory, settings } = context;
  await fillAsked(context, head);
  if (memory.gapLookedAt === head.hash) return memory.gap && pauseForGap(memory.gap.seen);
  const above = await findNonceAfterGap(db, lease);
  const missing = above === undefined ? undefined : await missingNonce(context, head, above);
  memory.gapLookedAt = head.hash;
  if (missing === undefined || above === undefined) {
    memory.gap = undefined;
    return undefined;
  }
  if (memory.gap?.seen !== missing) {
    memory.gap = { seen: missing, number: head.number, hash: head.hash };
  } else if (head.number - memory.gap.number >= BigInt(settings.stuckBlocks)) {
    const isSameChain = (await context.node.block(memory.gap.number))?.hash === memory.gap.hash;
    if (isSameChain) await fill(context, head, missing, above);
    else memory.gap = undefined;
  }
  return pauseForGap(missing);
}

/**
 * Uses the nonce that an operator has asked to fill, also where something waits at it in a pool: it is outbid. Forgets
 * the wish when the chain has used the nonce meanwhile.
 */
async function fillAsked(context: LaneContext, head: Head): Promise<void> {
  const { db, lease, node, signer } = context;
  const asked = await findAskedFill(db, lease);
  if (asked === undefined) return;
  const [count, chainId] = await Promise.all([
    node.transactionCount(signer.address, 'latest'),
    node.chainId(),
  ]);
  if (chainId.toString() !== lease.chainId) return;
  if (count <= asked && !(await fill(context, head, asked, asked + 1n))) return;
  await forgetAskedFill(db, lease);
}

const pauseForGap = (nonce: bigint): Pause => ({
  reason: 'nonce_gap',
  detail: `Nothing has used nonce ${nonce}, and transactions with higher nonces wait for it.`,
});

/**
 * Finds the lowest nonce that is missing, on the chain, in its nodes and in the store.
 * @param above a nonce in flight that has no stored predecessor
 * @returns undefined when there is none, or when that is not certain
 */
async function missingNonce(
  { db, lease, network, node, signer }: LaneContext,
  head: Head,
  above: bigint,
): Promise<bigint | undefined> {
  const { address } = signer;
  const [count, pending, chainId] = await Promise.all([
    node.transactionCount(address, 'latest'),
    node.transactionCount(address, 'pending'),
    node.chainId(),
  ]);
  // Whatever waits at the nonce makes the count of the pending ones higher.
  if (count >= above || pending > count || chainId.toString() !== network.chainId) return undefined;
  const finalized = await node.finalized(head, network.finalityDepth);
  const final = finalized < 0n ? 0n : await node.transactionCount(address, finalized);
  if (final > count || (await hasNonce(db, lease, count))) return undefined;
  return count;
}

/** Uses the nonces from `first` to below `above`. @returns false when the price does not allow it */
async function fill(context: LaneContext, head: Head, first: bigint, above: bigint): Promise<boolean> {
  const { settings, stopping } = context;
  const fees = quoteFor(await marketAt(context, head), settings.feeCap, limitsOf(context));
  if (fees === undefined) return false;
  // Nodes hold a bounded number of transactions of one account; the rest follows when these are mined.
  const end = first + BigInt(settings.maxInFlight);
  for (let nonce = first; nonce < above && nonce < end && !stopping.aborted; nonce += 1n) {
    await fillNonce(context, { nonce, fees, sentAtBlock: head.number });
  }
  return true;
}

type Fill = {
  readonly nonce: bigint;
  readonly fees: NonNullable<ReturnType<typeof quoteFor>>;
  readonly sentAtBlock: bigint;
};

async function fillNonce(context: LaneContext, { nonce, fees, sentAtBlock }: Fill): Promise<void> {
  const { db, lease, log, signer, step } = context;
  const { chainId } = lease;
  if (await hasNonce(db, lease, nonce)) return;
  const signed = await signer.signFill({ chainId, nonce, gasLimit: transferGas, fees });
  const transactionId = await inFencedTransaction(db, lease, async (tx) => {
    const id = await insertTransaction(tx, lease, { nonce, contract: signer.address, gasLimit: transferGas });
    await insertAttempt(tx, lease, { transactionId: id, number: 1, signed, fees, sentAtBlock });
    return id;
  });
  log.warn({ ...lease, nonce: nonce.toString(), hash: signed.hash }, 'nonce filled that nothing used');
  const facts = attemptFacts({ id: transactionId, nonce }, { number: 1, hash: signed.hash, fees });
  await step('stored', { ...facts, nftIds: [] });
  await broadcast(context, transactionId, signed, fees);
  await step('sent', facts);
}
