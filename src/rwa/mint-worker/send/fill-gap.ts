import type { Fees } from '../../../chain/minting/fees.ts';
import { transferGas } from '../../../chain/minting/gas.ts';
import type { Head } from '../../../chain/minting/mint-node.ts';
import type { LaneContext } from '../context/lane-context.ts';
import type { LaneMemory } from '../context/lane-memory.ts';
import { quoteAt } from '../context/market.ts';
import { forgetAskedFill, type Pause } from '../stores/lane-store.ts';
import { findNonceAfterGap, hasNonce } from '../stores/transaction-store.ts';
import { storeAndSend } from './store-and-send.ts';

// A wider gap comes from a wrong count, and each nonce of it would cost a transfer. A multiple of what may be in flight.
const widestGap = 10n;

/**
 * Fills a gap of nonces that nobody else fills: nonces that the chain has not used, below transactions of ours, which
 * cannot be mined until it has. Each is used by a transfer of nothing from the signer to itself, which is stored and
 * watched like any other transaction, and mints nothing. A wide gap waits for an operator.
 * @returns why the lane pauses, while there is a gap
 */
export async function fillGap(context: LaneContext, head: Head): Promise<Pause | undefined> {
  const { db, lease, memory } = context;
  if (memory.gapLookedAt === head.hash) return memory.gap && pauseForGap(context, memory.gap);
  const above = await findNonceAfterGap(db, lease);
  const missing = above === undefined ? undefined : await missingNonce(context, above);
  memory.gapLookedAt = head.hash;
  if (missing === undefined || above === undefined) {
    memory.gap = undefined;
    return undefined;
  }
  if (memory.gap?.seen !== missing || memory.gap.above !== above) {
    memory.gap = { seen: missing, above, number: head.number, hash: head.hash };
  } else if (isOverdue(context, head, memory.gap) && !isWide(context, memory.gap)) {
    const isSameChain = (await context.node.block(memory.gap.number))?.hash === memory.gap.hash;
    if (isSameChain) await fill(context, head, missing, above);
    else memory.gap = undefined;
  }
  return pauseForGap(context, { seen: missing, above });
}

type Gap = Pick<NonNullable<LaneMemory['gap']>, 'seen' | 'above'>;

const isOverdue = ({ settings }: LaneContext, head: Head, { number }: { readonly number: bigint }) =>
  head.number - number >= BigInt(settings.stuckBlocks);

const isWide = ({ settings }: LaneContext, { seen, above }: Gap) =>
  above - seen > widestGap * BigInt(settings.maxInFlight);

/**
 * Uses the nonce that an operator has asked to fill. Of a gap as many nonces are used as may be in flight.
 * The wish stays until the chain has used the nonce.
 */
export async function fillAsked(context: LaneContext, head: Head, asked: bigint): Promise<void> {
  const { db, lease, memory, node, signer } = context;
  if (memory.gapLookedAt === head.hash && (await hasNonce(db, lease, asked))) return;
  const [count, chainId] = await Promise.all([
    node.transactionCount(signer.address, 'latest'),
    node.chainId(),
  ]);
  if (chainId.toString() !== lease.chainId) return;
  if (count > asked) await forgetAskedFill(db, lease);
  else if (!(await hasNonce(db, lease, asked))) {
    const above = await findNonceAfterGap(context.db, context.lease);
    await fill(context, head, asked, above !== undefined && above > asked ? above : asked + 1n);
  }
}

function pauseForGap(context: LaneContext, gap: Gap): Pause {
  const { seen, above } = gap;
  const told = `Nothing has used nonce ${seen}, and transactions with higher nonces wait for it.`;
  if (!isWide(context, gap)) return { reason: 'nonce_gap', detail: told };
  const detail = `${told} The lowest of them is ${above}: so many are filled only when asked for, ${context.settings.maxInFlight} each time: tallystick mint fill-gap --chain ${context.lease.chainId} --signer ${context.signer.address}.`;
  return { reason: 'nonce_gap', detail };
}

/**
 * Finds the lowest nonce that is missing, on the chain, in its nodes and in the store.
 * @param above a nonce in flight that has no stored predecessor
 * @returns undefined when there is none, or when that is not certain
 */
async function missingNonce(
  { db, lease, network, node, signer }: LaneContext,
  above: bigint,
): Promise<bigint | undefined> {
  const { address } = signer;
  const [count, chainId] = await Promise.all([node.transactionCount(address, 'latest'), node.chainId()]);
  if (count >= above || chainId.toString() !== network.chainId) return undefined;
  const final = await node.transactionCount(address, node.finalized);
  if (final > count || (await hasNonce(db, lease, count))) return undefined;
  return count;
}

/** Uses the nonces from `first` to below `above`, as far as the price allows it. */
async function fill(context: LaneContext, head: Head, first: bigint, above: bigint): Promise<void> {
  const { settings, stopping } = context;
  const fees = await quoteAt(context, head);
  if (fees === undefined) return;
  // Nodes keep a bounded number of transactions of one account. The rest follows when these are mined.
  const end = first + BigInt(settings.maxInFlight);
  for (let nonce = first; nonce < above && nonce < end && !stopping.aborted; nonce += 1n) {
    await fillNonce(context, { nonce, fees, sentAtBlock: head.number });
  }
}

type Fill = {
  readonly nonce: bigint;
  readonly fees: Fees;
  readonly sentAtBlock: bigint;
};

async function fillNonce(context: LaneContext, { nonce, fees, sentAtBlock }: Fill): Promise<void> {
  const { db, lease, log, signer } = context;
  const { chainId } = lease;
  if (await hasNonce(db, lease, nonce)) return;
  const signed = await signer.sign({ chainId, nonce, gasLimit: transferGas, fees });
  log.warn({ ...lease, nonce: nonce.toString(), hash: signed.hash }, 'nonce filled that nothing used');
  const created = { nonce, contract: signer.address, gasLimit: transferGas };
  await storeAndSend(context, { ...created, signed, fees, sentAtBlock });
}
