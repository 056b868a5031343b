import { mostCostOf, readSigned } from '../../../../chain/minting/signer.ts';
import type { Database, Tx } from '../../../../contract/transaction.ts';
import { DistrustError } from '../../context/inquiry.ts';
import { transactionFacts } from '../../context/lane-context.ts';
import { type Mined, memoryOf } from '../../context/lane-memory.ts';
import { restFor } from '../../context/rests.ts';
import { readRawAttempt } from '../../stores/attempt-store.ts';
import { noteFailure, noteOutOfGas } from '../../stores/contract-breaker-store.ts';
import { makeDueAgain } from '../../stores/refresh-store.ts';
import { listOpenNfts, type TransactionNft } from '../../stores/transaction-nft-store.ts';
import { type Inclusion, type OpenTransaction, setTransactionState } from '../../stores/transaction-store.ts';
import { findEvidence } from '../evidence/evidence.ts';
import type { Look } from '../evidence/look.ts';
import { endTransaction } from './end-transaction.ts';
import type { MintedNft } from './outcomes.ts';
import { proveOutcomes, type WaitingNft } from './proof.ts';
import { listTriedNfts, noteLeftOut, revertedMint } from './retry-limit.ts';
import { storeConfirmed } from './store-confirmed.ts';

/**
 * Advances a mined transaction as far as the depth of its block allows.
 * @throws DistrustError when its receipt names another contract
 */
export async function settle(look: Look, transaction: OpenTransaction, mined: Mined): Promise<void> {
  const { memory, network, step } = look.context;
  const { block, receipt } = mined;
  if (!(await isOurs(look, transaction, mined))) {
    throw new DistrustError(`the receipt of ${receipt.hash} names another contract`);
  }
  const known = memoryOf(memory, transaction.id);
  const isNews = known.mined === undefined;
  known.mined = { ...mined, rwaId: transaction.rwaId };
  if (isNews) {
    known.isUnderfunded = false;
    known.refused = undefined;
    known.missing = 0;
    await step('mined', { ...transactionFacts(transaction), block: block.number.toString() });
  }
  if (!receipt.succeeded) {
    await settleReverted(look, transaction, mined);
  } else if (look.depthOf(block.number) >= BigInt(network.confirmations)) {
    await confirm(look, transaction, mined);
  }
}

/** Whether a receipt names the contract; one of an attempt without NFTs names the signer. */
async function isOurs(
  { context: { db, signer } }: Look,
  { contract }: OpenTransaction,
  { receipt }: Mined,
): Promise<boolean> {
  const to = receipt.to?.toLowerCase();
  if (to === contract.toLowerCase()) return true;
  return (
    to === signer.address.toLowerCase() &&
    readSigned(await readRawAttempt(db, receipt.hash)).mints.length === 0
  );
}

/**
 * Where a mined transaction is, and what it cost. That is no more than what was signed, since a wrong cost would use up the
 * budget of a company. A higher cost does not make the receipt wrong: some chains round their prices.
 * @throws Error when it is no attempt of ours
 */
async function inclusionOf(db: Database, { receipt: { hash, cost }, block }: Mined): Promise<Inclusion> {
  const most = cost === null ? 0n : mostCostOf(await readRawAttempt(db, hash));
  return {
    hash,
    blockNumber: block.number,
    blockHash: block.hash,
    time: block.time,
    cost: cost === null || cost < most ? cost : most,
  };
}

async function confirm(look: Look, transaction: OpenTransaction, mined: Mined): Promise<void> {
  const { db, memory } = look.context;
  const inclusion = await inclusionOf(db, mined);
  const nfts = await listTriedNfts(db, transaction, mined.receipt.hash);
  const { minted, waiting, isClear } = await findMinted(look, transaction, { ...mined, inclusion }, nfts);
  // The contract skipped a token whose mint is not found yet. The next poll may find it. Once the block is final, the
  // transaction is confirmed without the token, so that the other NFTs go on. Finalizing proves what became of it.
  if (!isClear && mined.block.number > look.finalized) {
    memoryOf(memory, transaction.id).isSettling = true;
    return;
  }
  const hasSpareGas = mined.receipt.minted.size === nfts.length && (await hasUsedLessThanHalf(db, mined));
  await storeConfirmed(look, transaction, { inclusion, minted, nfts, waiting, hasSpareGas });
}

type FoundMints = {
  readonly minted: MintedNft[];
  /** NFTs whose evidence is not to be had. The others do not wait for them. */
  readonly waiting: WaitingNft[];
  /** False when the outcome of any other NFT is unclear. */
  readonly isClear: boolean;
};

/** Finds which NFTs are minted, by the transaction itself or by an earlier one. */
async function findMinted(
  look: Look,
  transaction: OpenTransaction,
  { inclusion, receipt }: Mined & { readonly inclusion: Inclusion },
  nfts: readonly TransactionNft[],
): Promise<FoundMints> {
  const isInReceipt = ({ tokenId, recipient }: TransactionNft) =>
    receipt.minted.get(tokenId)?.toLowerCase() === recipient.toLowerCase();
  const own = nfts.filter(isInReceipt);
  const skipped = nfts.filter((nft) => !isInReceipt(nft));
  const minted: MintedNft[] = own.map(({ nftId }) => ({ nftId, in: inclusion }));
  const waiting: WaitingNft[] = [];
  let isClear = true;
  const minDepth = BigInt(look.context.network.confirmations);
  const evidences =
    skipped.length === 0 ? new Map() : await findEvidence(look, transaction, skipped, minDepth);
  for (const nft of skipped) {
    const evidence = evidences.get(nft.nftId);
    if (evidence?.kind === 'minted') minted.push({ nftId: nft.nftId, in: evidence.in });
    else if (evidence?.kind === 'waits') waiting.push({ nft, note: evidence.note });
    // A token of another recipient is clear. The NFT fails only when that is final.
    else if (evidence?.kind !== 'failed') isClear = false;
  }
  return { minted, waiting, isClear };
}

const gasLimitOf = async (db: Database, hash: string): Promise<bigint> =>
  readSigned(await readRawAttempt(db, hash)).gasLimit;

/** Whether the attempt used all of its gas: a contract that calls another keeps a 64th of it back. */
const isOutOfGas = async (db: Database, { receipt: { gasUsed, hash } }: Mined): Promise<boolean> =>
  gasUsed !== null && gasUsed * 64n >= (await gasLimitOf(db, hash)) * 63n;

const hasUsedLessThanHalf = async (db: Database, { receipt: { gasUsed, hash } }: Mined): Promise<boolean> =>
  gasUsed !== null && 2n * gasUsed < (await gasLimitOf(db, hash));

type ContractId = { readonly chainId: string; readonly contract: string };

/** Counts a mint that was reverted as a failure of its contract, unless more gas may be enough. */
async function noteRevert(tx: Tx, id: string, mined: Mined, subject: ContractId): Promise<void> {
  const isExcused = (await isOutOfGas(tx, mined)) && (await noteOutOfGas(tx, id, subject));
  if (!isExcused) await noteFailure(tx, subject);
}

// As long as between two transactions to a contract that makes mints fail.
const revertedReportMs = 3_600_000;

/**
 * A reverted transaction minted nothing; the outcome of its NFTs is decided once the revert is final. Those whose
 * outcome cannot be proven then wait without it.
 */
async function settleReverted(look: Look, transaction: OpenTransaction, mined: Mined): Promise<void> {
  const { db, lease, memory } = look.context;
  const { id, contract, rwaId } = transaction;
  if (mined.block.number > look.finalized) {
    memoryOf(memory, id).isSettling = true;
    return;
  }
  const nfts = await listOpenNfts(db, id);
  const inclusion = await inclusionOf(db, mined);
  await endTransaction(look, id, 'reverted', {
    nfts,
    proof: await proveOutcomes(look, transaction, nfts),
    failure: revertedMint(mined.receipt.hash),
    facts: transactionFacts(transaction),
    async change(tx) {
      await setTransactionState(tx, id, 'reverted', inclusion);
      await makeDueAgain(tx, id);
      await noteLeftOut(tx, transaction, mined.receipt.hash);
      if (rwaId === null) await noteRevert(tx, id, mined, { chainId: lease.chainId, contract });
    },
  });
  // It cost gas.
  if (rwaId !== null) restFor(look.context, 'reports', contract, revertedReportMs);
}
