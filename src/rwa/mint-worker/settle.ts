import { feesInWords } from '../../chain/minting/fees.ts';
import type { ChainView, Mined } from './chain-view.ts';
import { findEvidence, proveEnd } from './evidence.ts';
import type { LaneContext } from './lane-context.ts';
import {
  confirmTransaction,
  endTransaction,
  finalizeTransaction,
  type MintedIn,
  type Outcomes,
  revertsOf,
  unconfirmTransaction,
} from './outcome-store.ts';
import { type Item, type OpenTransaction, openItems } from './transaction-store.ts';

// One revert may have a passing cause, such as a role that was taken and given back.
const maxReverts = 2;

/** Takes a mined transaction as far as the depth of its block allows. */
export async function settle(
  context: LaneContext,
  view: ChainView,
  transaction: OpenTransaction,
  mined: Mined,
): Promise<void> {
  const { memory, network, step } = context;
  if (!memory.mined.has(transaction.id)) {
    memory.mined.add(transaction.id);
    await step('mined', { ...about(transaction), block: mined.block.number.toString() });
  }
  if (mined.receipt.to?.toLowerCase() !== transaction.contract.toLowerCase()) {
    throw new Error(
      `The receipt of ${mined.receipt.hash} names another contract: the node is not to be trusted.`,
    );
  }
  if (!mined.receipt.succeeded) await endReverted(context, view, transaction, mined);
  else if (view.depthOf(mined.block.number) >= BigInt(network.confirmations)) {
    await confirm(context, view, transaction, mined);
  }
}

async function confirm(
  context: LaneContext,
  view: ChainView,
  transaction: OpenTransaction,
  mined: Mined,
): Promise<void> {
  const { db, lanes, lease, memory, step } = context;
  const own = placeOf(mined);
  const outcomes = await outcomesOf(context, view, transaction, mined, await openItems(db, transaction.id));
  // The contract passed over a token of whose mint nothing is to be seen yet: the next look may show it.
  if (outcomes === undefined) return;
  const waits = await lanes.fenced(lease, async (tx) => {
    const found = await confirmTransaction(tx, transaction.id, own, outcomes);
    await step('confirming', about(transaction));
    return found;
  });
  memory.mined.delete(transaction.id);
  await step('confirmed', { ...about(transaction), block: own.blockNumber.toString(), waits });
}

async function outcomesOf(
  context: LaneContext,
  view: ChainView,
  { contract }: OpenTransaction,
  mined: Mined,
  items: readonly Item[],
): Promise<Outcomes | undefined> {
  const own = placeOf(mined);
  const minted: { nftId: string; in: MintedIn }[] = [];
  for (const item of items) {
    const recipient = mined.receipt.minted.get(item.tokenId);
    if (recipient?.toLowerCase() === item.recipient.toLowerCase()) {
      minted.push({ nftId: item.nftId, in: own });
      continue;
    }
    const depth = BigInt(context.network.confirmations);
    const evidence = await findEvidence(context, view, contract, item, depth);
    if (evidence.kind === 'minted') minted.push({ nftId: item.nftId, in: evidence.in });
    // Somebody else has the token: true for ever once it is final, and not said before.
    else if (evidence.kind !== 'failed') return undefined;
  }
  return { minted, failed: [], released: [] };
}

/** A reverted transaction minted nothing; what becomes of its NFTs is decided once that is final. */
async function endReverted(
  context: LaneContext,
  view: ChainView,
  transaction: OpenTransaction,
  mined: Mined,
): Promise<void> {
  if (mined.block.number > (await view.finalized())) return;
  const outcomes = await proveEnd(context, view, transaction, await openItems(context.db, transaction.id));
  if (outcomes === undefined) return;
  const { lanes, lease, memory, step } = context;
  const end = await lanes.fenced(lease, async (tx) => {
    const reverts = await revertsOf(tx, outcomes.released);
    const isOver = (nftId: string) => (reverts.get(nftId) ?? 0) + 1 >= maxReverts;
    const reason = `The contract reverted the mint ${maxReverts} times, last in transaction ${mined.receipt.hash}.`;
    const over = outcomes.released.filter(isOver).map((nftId) => ({ nftId, reason }));
    const failed = [...outcomes.failed, ...over];
    const released = outcomes.released.filter((nftId) => !isOver(nftId));
    const ends = { minted: outcomes.minted, failed, released };
    const waits = await endTransaction(tx, transaction.id, { state: 'reverted', in: placeOf(mined) }, ends);
    return { waits, failed: failed.length, released: released.length };
  });
  memory.mined.delete(transaction.id);
  await step('reverted', { ...about(transaction), ...end });
}

/**
 * No attempt has a block. When the nonce is used for ever all the same, by somebody else, and it is proven
 * that no token came into being, the NFTs may have another nonce. Until then this one is theirs.
 */
export async function releaseIfLost(
  context: LaneContext,
  view: ChainView,
  transaction: OpenTransaction,
): Promise<void> {
  const { db, lanes, lease, memory, node, signer, step } = context;
  const finalCount = await node.transactionCount(signer.address, await view.finalized());
  if (finalCount <= transaction.nonce) return;
  const items = await openItems(db, transaction.id);
  const outcomes = await proveEnd(context, view, transaction, items);
  if (outcomes === undefined) return;
  // The events are of this very transaction: its receipt is late, and the nonce was used by nobody else.
  const own = new Set(transaction.attempts.map(({ hash }) => hash));
  if (outcomes.minted.some((mint) => own.has(mint.in.hash))) return;
  const waits = await lanes.fenced(lease, (tx) =>
    endTransaction(tx, transaction.id, { state: 'lost' }, outcomes),
  );
  memory.sentAt.delete(transaction.id);
  const counts = { failed: outcomes.failed.length, released: outcomes.released.length };
  await step('released', { ...about(transaction), waits, ...counts });
}

/**
 * Looks again at a transaction that counts as done.
 * @returns false when the chain has another block in that place: then it is on its way again
 */
export async function recheck(
  context: LaneContext,
  view: ChainView,
  transaction: OpenTransaction,
): Promise<boolean> {
  const { confirmedIn } = transaction;
  if (confirmedIn === null) return false;
  for (const place of [confirmedIn, ...transaction.foundIn]) {
    const block = await view.block(place.number);
    // A chain that is shorter than it was may be a node that lags: wait until the place is taken.
    if (block === null) return true;
    if (block.hash !== place.hash) {
      await takeBack(context, transaction);
      return false;
    }
  }
  if (confirmedIn.number <= (await view.finalized())) await finalize(context, view, transaction);
  return true;
}

async function takeBack({ lanes, lease, memory, step }: LaneContext, transaction: OpenTransaction) {
  const unminted = await lanes.fenced(lease, (tx) => unconfirmTransaction(tx, transaction.id));
  memory.sentAt.delete(transaction.id);
  await step('reorganised', { ...about(transaction), unminted });
}

async function finalize(context: LaneContext, view: ChainView, transaction: OpenTransaction) {
  const { db, lanes, lease, log, step } = context;
  const left = (await openItems(db, transaction.id)).filter(({ isMinted }) => !isMinted);
  const outcomes = await proveEnd(context, view, transaction, left);
  // A token that was passed over has an owner: one without any is not to be believed.
  if (outcomes === undefined || outcomes.released.length > 0) return;
  const waits = await lanes.fenced(lease, (tx) => finalizeTransaction(tx, transaction.id, outcomes));
  for (const failed of outcomes.failed) log.error(failed, 'mint failed');
  await step('finalized', { ...about(transaction), waits, failed: outcomes.failed.length });
}

export const about = ({ id, nonce, attempts: [newest] }: OpenTransaction) => ({
  transaction: id,
  nonce: nonce.toString(),
  attempt: newest.number,
  hash: newest.hash,
  ...feesInWords(newest.fees),
});

const placeOf = ({ receipt, block }: Mined): MintedIn => ({
  hash: receipt.hash,
  blockNumber: block.number,
  blockHash: block.hash,
  time: block.time,
});
