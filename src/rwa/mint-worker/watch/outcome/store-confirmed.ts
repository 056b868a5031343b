import { codeOf } from '../../../../db/connection/outage.ts';
import { lockFreeMints, mintNfts } from '../../../minting/mint-state-store.ts';
import { transactionFacts } from '../../context/lane-context.ts';
import { memoryOf } from '../../context/lane-memory.ts';
import { noteSpareGas, noteSuccess } from '../../stores/contract-breaker-store.ts';
import { inFencedTransaction } from '../../stores/lane-store.ts';
import { setEarlierMints, type TransactionNft } from '../../stores/transaction-nft-store.ts';
import { type Inclusion, type OpenTransaction, setTransactionState } from '../../stores/transaction-store.ts';
import type { Look } from '../evidence/look.ts';
import type { MintedNft } from './outcomes.ts';
import type { WaitingNft } from './proof.ts';
import { noteLeftOut } from './retry-limit.ts';
import { saveWaiting } from './waiting.ts';

type Confirmed = {
  /** Of the attempt that is in a block. */
  readonly inclusion: Inclusion;
  /** By this transaction or by an earlier one. */
  readonly minted: readonly MintedNft[];
  /** Those that were in question, with those that wait. */
  readonly nfts: readonly TransactionNft[];
  readonly waiting: readonly WaitingNft[];
  /** It minted all of its NFTs with less than half of its gas. */
  readonly hasSpareGas?: boolean;
};

/**
 * Stores that a transaction is confirmed, and which of its NFTs are minted. An NFT whose row, or that of its RWA, stays locked is left
 * out: its mint is proven once the transaction is final. A lane waits for locked rows once for each block, so that they do not delay
 * one transaction after the other.
 */
export async function storeConfirmed(
  look: Look,
  transaction: OpenTransaction,
  confirmed: Confirmed,
): Promise<void> {
  const { context, head } = look;
  const { minted } = confirmed;
  const storeFree = async () => {
    const ids = minted.map(({ nftId }) => nftId);
    const locked = await lockFreeMints(context.db, ids);
    const free = minted.filter(({ nftId }) => !locked.has(nftId));
    await store(look, transaction, confirmed, free);
  };
  if (context.memory.waitedAt === head.hash) return storeFree();
  try {
    await store(look, transaction, confirmed, minted);
  } catch (error) {
    if (!(error instanceof Error) || codeOf(error) !== lockNotAvailable) throw error;
    context.memory.waitedAt = head.hash;
    await storeFree();
  }
}

// The wait for a lock took too long.
const lockNotAvailable = '55P03';

async function store(
  { context }: Look,
  transaction: OpenTransaction,
  { inclusion, nfts, waiting, hasSpareGas = false }: Confirmed,
  minted: readonly MintedNft[],
): Promise<void> {
  const { db, lease, memory, step } = context;
  const { id, contract } = transaction;
  const facts = transactionFacts(transaction);
  const waits = await inFencedTransaction(db, lease, async (tx) => {
    await noteLeftOut(tx, transaction, inclusion.hash);
    await setTransactionState(tx, id, 'confirmed', inclusion);
    await setEarlierMints(
      tx,
      id,
      minted.filter((mint) => mint.in.hash !== inclusion.hash),
    );
    const seconds = await mintNfts(tx, minted);
    if (minted.length > 0) await noteSuccess(tx, { chainId: lease.chainId, contract });
    if (hasSpareGas) await noteSpareGas(tx, id, { chainId: lease.chainId, contract });
    await saveWaiting(tx, nfts, waiting);
    await step('confirming', facts);
    return seconds;
  });
  memoryOf(memory, id).mined = undefined;
  await step('confirmed', { ...facts, block: inclusion.blockNumber.toString(), waits });
}
