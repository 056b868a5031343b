import type { LaneContext } from '../lane-context.ts';
import { transactionFacts } from '../step-facts.ts';
import { inFencedTransaction } from '../stores/lane-store.ts';
import { listOpenNfts, type TransactionNft } from '../stores/transaction-nft-store.ts';
import type { OpenTransaction } from '../stores/transaction-store.ts';
import { type ChainView, inclusionOf, type Mined } from './chain-view.ts';
import { findEvidence, proveOutcomes } from './evidence.ts';
import { listTriedNfts, noteLeftOut } from './left-out.ts';
import { confirmTransaction, endReverted, type MintedNft } from './outcomes.ts';
import { applyRetryLimit, maxFailedAttempts } from './retry-limit.ts';

/**
 * Advances a mined transaction as far as the depth of its block allows.
 * @throws Error when its receipt names another contract
 */
export async function settle(
  context: LaneContext,
  view: ChainView,
  transaction: OpenTransaction,
  mined: Mined,
): Promise<void> {
  const { memory, network, step } = context;
  const { block, receipt } = mined;
  if (!memory.mined.has(transaction.id)) {
    memory.mined.add(transaction.id);
    memory.underfunded.delete(transaction.id);
    memory.refused.delete(transaction.id);
    await step('mined', { ...transactionFacts(transaction), block: block.number.toString() });
  }
  if (receipt.to?.toLowerCase() !== transaction.contract.toLowerCase()) {
    throw new Error(`The receipt of ${receipt.hash} names another contract: the node is not to be trusted.`);
  }
  if (!receipt.succeeded) {
    await settleReverted(context, view, transaction, mined);
  } else if (view.depthOf(block.number) >= BigInt(network.confirmations)) {
    await confirm(context, view, transaction, mined);
  }
}

async function confirm(
  context: LaneContext,
  view: ChainView,
  transaction: OpenTransaction,
  mined: Mined,
): Promise<void> {
  const { db, lease, memory, step } = context;
  const inclusion = inclusionOf(mined);
  const nfts = await listTriedNfts(db, transaction, mined.receipt.hash);
  const { minted, isClear } = await findMinted(context, view, transaction, mined, nfts);
  // The contract skipped a token whose mint is not found yet: the next poll may find it. Once the block is final
  // the transaction is confirmed without it, so that the other NFTs do not wait for ever; finalizing proves what
  // became of it.
  if (!isClear && mined.block.number > (await view.finalized())) return;

  const waits = await inFencedTransaction(db, lease, async (tx) => {
    await noteLeftOut(tx, transaction, mined.receipt.hash);
    const seconds = await confirmTransaction(tx, transaction.id, inclusion, minted);
    await step('confirming', transactionFacts(transaction));
    return seconds;
  });
  memory.mined.delete(transaction.id);
  await step('confirmed', {
    ...transactionFacts(transaction),
    block: inclusion.blockNumber.toString(),
    waits,
  });
}

/**
 * Finds which NFTs are minted, by the transaction itself or by an earlier one.
 * @returns `isClear` is false when the outcome of any NFT is unclear
 */
async function findMinted(
  context: LaneContext,
  view: ChainView,
  { contract }: OpenTransaction,
  mined: Mined,
  nfts: readonly TransactionNft[],
): Promise<{ minted: MintedNft[]; isClear: boolean }> {
  const inclusion = inclusionOf(mined);
  const minDepth = BigInt(context.network.confirmations);
  const minted: MintedNft[] = [];
  let isClear = true;
  for (const nft of nfts) {
    const recipient = mined.receipt.minted.get(nft.tokenId);
    if (recipient?.toLowerCase() === nft.recipient.toLowerCase()) {
      minted.push({ nftId: nft.nftId, in: inclusion });
      continue;
    }
    const evidence = await findEvidence(context, view, contract, nft, minDepth);
    if (evidence.kind === 'minted') minted.push({ nftId: nft.nftId, in: evidence.in });
    // A token that another recipient has is clear, but becomes failed only when that is final.
    else if (evidence.kind !== 'failed') isClear = false;
  }
  return { minted, isClear };
}

/** A reverted transaction minted nothing; the outcome of its NFTs is decided once the revert is final. */
async function settleReverted(
  context: LaneContext,
  view: ChainView,
  transaction: OpenTransaction,
  mined: Mined,
): Promise<void> {
  const { db, lease, memory, step } = context;
  if (mined.block.number > (await view.finalized())) return;
  const nfts = await listOpenNfts(db, transaction.id);
  const proven = await proveOutcomes(context, view, transaction, nfts);
  if (proven === undefined) return;

  const reason = `The contract reverted the mint ${maxFailedAttempts} times, last in transaction ${mined.receipt.hash}.`;
  const counts = await inFencedTransaction(db, lease, async (tx) => {
    await noteLeftOut(tx, transaction, mined.receipt.hash);
    const outcomes = await applyRetryLimit(tx, proven, reason);
    const waits = await endReverted(tx, transaction.id, inclusionOf(mined), outcomes);
    return { waits, failed: outcomes.failed.length, released: outcomes.released.length };
  });
  memory.mined.delete(transaction.id);
  await step('reverted', { ...transactionFacts(transaction), ...counts });
}
