import type { Tx } from '../../../../contract/transaction.ts';
import { mintNfts } from '../../../minting/mint-state-store.ts';
import { transactionFacts } from '../../context/lane-context.ts';
import { memoryOf } from '../../context/lane-memory.ts';
import { noteSpareGas, noteSuccess } from '../../stores/contract-breaker-store.ts';
import { inFencedTransaction } from '../../stores/lane-store.ts';
import { makeDueAgain } from '../../stores/refresh-store.ts';
import { closeMintedNfts, setEarlierMints, type TransactionNft } from '../../stores/transaction-nft-store.ts';
import {
  type Inclusion,
  type OpenTransaction,
  setTransactionFinalized,
  setTransactionState,
} from '../../stores/transaction-store.ts';
import { setUnproven } from '../../stores/unproven-store.ts';
import type { Look } from '../evidence/look.ts';
import { applyOutcomes, type MintedNft } from './outcomes.ts';
import type { ProvenOutcomes, WaitingNft } from './proof.ts';
import { applyRetryLimit, noteLeftOut } from './retry-limit.ts';
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

/** Stores that a transaction is confirmed, and which of its NFTs are minted. */
export async function storeConfirmed(
  { context }: Look,
  transaction: OpenTransaction,
  { inclusion, minted, nfts, waiting, hasSpareGas = false }: Confirmed,
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

type Ending = {
  /** `lost` when another transaction used its nonce. */
  readonly state: 'finalized' | 'reverted' | 'lost';
  /** Of a reverted one. */
  readonly inclusion?: Inclusion;
  readonly nfts: readonly TransactionNft[];
  readonly proof: ProvenOutcomes;
  /** Why NFTs fail whose last attempt it was, in words; undefined when it was no attempt. */
  readonly failure?: string;
  /** What else its end changes. */
  readonly note?: (tx: Tx) => Promise<void>;
};

const steps = { finalized: 'finalized', reverted: 'reverted', lost: 'released' } as const;

/** Stores how a transaction has ended, once that is final. NFTs whose outcome is not proven yet wait without it. */
export async function storeEnded(
  { context }: Look,
  transaction: OpenTransaction,
  { state, inclusion, nfts, proof, failure, note }: Ending,
): Promise<void> {
  const { db, lease, log, memory, step } = context;
  const { id } = transaction;
  const { waiting } = proof;
  const { outcomes, waits } = await inFencedTransaction(db, lease, async (tx) => {
    await note?.(tx);
    const limited =
      failure === undefined ? proof.outcomes : await applyRetryLimit(tx, id, proof.outcomes, failure);
    if (state !== 'finalized') {
      await setTransactionState(tx, id, state, inclusion);
      await makeDueAgain(tx, id);
    }
    const seconds = await applyOutcomes(tx, id, limited);
    if (state === 'finalized') {
      await setTransactionFinalized(tx, id);
      await closeMintedNfts(tx, id);
    }
    await saveWaiting(tx, nfts, waiting);
    if (waiting.length > 0) await setUnproven(tx, id, true);
    return { outcomes: limited, waits: seconds };
  });
  memory.transactions.delete(id);
  const { failed, released } = outcomes;
  for (const each of failed) log.error(each, 'mint failed');
  await step(steps[state], {
    ...transactionFacts(transaction),
    waits,
    failed: failed.length,
    released: released.length,
  });
}
