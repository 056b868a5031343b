import type { Tx } from '../../../../contract/transaction.ts';
import { lockFreeMints } from '../../../minting/mint-state-store.ts';
import type { StepFacts } from '../../context/lane-context.ts';
import { inFencedTransaction } from '../../stores/lane-store.ts';
import type { TransactionNft } from '../../stores/transaction-nft-store.ts';
import { setUnproven } from '../../stores/unproven-store.ts';
import type { Look } from '../evidence/look.ts';
import { applyOutcomes, type Outcomes } from './outcomes.ts';
import type { ProvenOutcomes, WaitingNft } from './proof.ts';
import { applyRetryLimit } from './retry-limit.ts';
import { hasChangedNotes, saveWaiting } from './waiting.ts';

/** How a transaction ends; `lost` when another one used its nonce, `proven` when it had ended before, without some of its NFTs. */
type Kind = 'finalized' | 'reverted' | 'lost' | 'proven';

const steps = { finalized: 'finalized', reverted: 'reverted', lost: 'released', proven: 'proven' } as const;

type Ending = {
  /** Its NFTs that were in question, with those that wait. */
  readonly nfts: readonly TransactionNft[];
  readonly proof: ProvenOutcomes;
  /** Why NFTs fail whose last attempt it was, in words; undefined when it was no attempt. */
  readonly failure?: string | undefined;
  readonly facts: StepFacts;
  /** What its end changes in its own row and in that of its contract. */
  readonly change?: (tx: Tx) => Promise<void>;
};

/**
 * Stores how a transaction has ended, once that is final. NFTs whose outcome is not proven yet wait without it, and so do those
 * whose rows are locked: the next poll tries again.
 */
export async function endTransaction(
  { context }: Look,
  id: string,
  kind: Kind,
  { nfts, proof, failure, facts, change }: Ending,
): Promise<void> {
  const { db, lease, log, memory, step } = context;
  const { waiting } = proof;
  const isAsBefore = kind === 'proven' && waiting.length > 0 && waiting.length === nfts.length;
  if (isAsBefore && !hasChangedNotes(waiting)) return;
  const { isStill, outcomes, waits } = await inFencedTransaction(db, lease, async (tx) => {
    await change?.(tx);
    const { free, held } = await withoutLocked(tx, nfts, proof.outcomes);
    const limited = failure === undefined ? free : await applyRetryLimit(tx, id, free, failure);
    const left = [...waiting, ...held];
    await saveWaiting(tx, nfts, left);
    // It may note that an NFT waits for another transaction.
    const seconds = await applyOutcomes(tx, id, limited);
    await setUnproven(tx, id);
    const nothingEnded = kind === 'proven' && left.length === nfts.length;
    return { isStill: nothingEnded, outcomes: limited, waits: seconds };
  });
  memory.transactions.delete(id);
  if (isStill) return;
  const { failed, released } = outcomes;
  for (const each of failed) log.error(each, 'mint failed');
  await step(steps[kind], { ...facts, waits, failed: failed.length, released: released.length });
}

/** Splits outcomes by whether another transaction of the database has locked the row of the NFT, or that of its RWA. */
async function withoutLocked(
  tx: Tx,
  nfts: readonly TransactionNft[],
  { minted, failed, released }: Outcomes,
): Promise<{ readonly free: Outcomes; readonly held: readonly WaitingNft[] }> {
  const ended = [...minted, ...failed].map(({ nftId }) => nftId);
  const locked = await lockFreeMints(tx, [...ended, ...released]);
  const isFree = ({ nftId }: { readonly nftId: string }) => !locked.has(nftId);
  return {
    free: {
      minted: minted.filter(isFree),
      failed: failed.filter(isFree),
      released: released.filter((nftId) => !locked.has(nftId)),
    },
    held: nfts.filter((nft) => !isFree(nft)).map((nft) => ({ nft, note: undefined })),
  };
}
