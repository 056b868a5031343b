import { feesInWords } from '../../chain/minting/fees.ts';
import type { Tx } from '../../contract/transaction.ts';
import type { ChainView, Mined } from './chain-view.ts';
import { findEvidence, proveEnd } from './evidence.ts';
import type { LaneContext } from './lane-context.ts';
import {
  confirmTransaction,
  endTransaction,
  finalizeTransaction,
  type MintedIn,
  type Outcomes,
  unconfirmTransaction,
  vainTriesOf,
} from './outcome-store.ts';
import { type Item, type OpenTransaction, openItems } from './transaction-store.ts';

// One mint that came to nothing may have a passing cause, such as a role that was taken and given back.
const maxTries = 2;

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
    memory.unpaid.delete(transaction.id);
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
  const { isClear, ...outcomes } = await outcomesOf(
    context,
    view,
    transaction,
    mined,
    await openItems(db, transaction.id),
  );
  // The contract passed over a token of whose mint nothing is to be seen yet: the next look may show it.
  // Where there is none, that is proven at the end, and the others do not wait for ever.
  if (!isClear && mined.block.number > (await view.finalized())) return;
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
): Promise<Outcomes & { isClear: boolean }> {
  const own = placeOf(mined);
  let isClear = true;
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
    else if (evidence.kind !== 'failed') isClear = false;
  }
  return { isClear, minted, failed: [], released: [] };
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
    const reason = `The contract reverted the mint ${maxTries} times, last in transaction ${mined.receipt.hash}.`;
    const ends = await withoutEndlessTries(tx, outcomes, reason);
    const waits = await endTransaction(tx, transaction.id, { state: 'reverted', in: placeOf(mined) }, ends);
    return { waits, failed: ends.failed.length, released: ends.released.length };
  });
  memory.mined.delete(transaction.id);
  await step('reverted', { ...about(transaction), ...end });
}

/** An NFT whose mint came to nothing as often as may be fails, and is sent no more. */
async function withoutEndlessTries(tx: Tx, outcomes: Outcomes, reason: string): Promise<Outcomes> {
  const tries = await vainTriesOf(tx, outcomes.released);
  const isOver = (nftId: string) => (tries.get(nftId) ?? 0) + 1 >= maxTries;
  const over = outcomes.released.filter(isOver).map((nftId) => ({ nftId, reason }));
  return {
    minted: outcomes.minted,
    failed: [...outcomes.failed, ...over],
    released: outcomes.released.filter((nftId) => !isOver(nftId)),
  };
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
  memory.unpaid.delete(transaction.id);
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
  const [newest] = transaction.attempts;
  const left = (await openItems(db, transaction.id)).filter(({ isMinted }) => !isMinted);
  const outcomes = await proveEnd(context, view, transaction, left);
  if (outcomes === undefined) return;
  // Our contract passes a token over only when it has an owner; one of somebody else may have other reasons.
  const reason = `The contract passed the mint over ${maxTries} times, last in transaction ${newest.hash}.`;
  const { waits, failed, released } = await lanes.fenced(lease, async (tx) => {
    const ends = await withoutEndlessTries(tx, outcomes, reason);
    return { ...ends, waits: await finalizeTransaction(tx, transaction.id, ends) };
  });
  for (const each of failed) log.error(each, 'mint failed');
  const counts = { failed: failed.length, released: released.length };
  await step('finalized', { ...about(transaction), waits, ...counts });
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
