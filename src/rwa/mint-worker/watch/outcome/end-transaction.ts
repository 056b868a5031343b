import type { Tx } from '../../../../contract/transaction.ts';
import type { StepFacts } from '../../context/lane-context.ts';
import { inFencedTransaction } from '../../stores/lane-store.ts';
import type { TransactionNft } from '../../stores/transaction-nft-store.ts';
import { setUnproven } from '../../stores/unproven-store.ts';
import type { Look } from '../evidence/look.ts';
import { applyOutcomes } from './outcomes.ts';
import type { ProvenOutcomes } from './proof.ts';
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

/** Stores how a transaction has ended, once that is final. NFTs whose outcome is not proven yet wait without it. */
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
  const { outcomes, waits } = await inFencedTransaction(db, lease, async (tx) => {
    await change?.(tx);
    const limited =
      failure === undefined ? proof.outcomes : await applyRetryLimit(tx, id, proof.outcomes, failure);
    const seconds = await applyOutcomes(tx, id, limited);
    await saveWaiting(tx, nfts, waiting);
    await setUnproven(tx, id, waiting.length > 0);
    return { outcomes: limited, waits: seconds };
  });
  memory.transactions.delete(id);
  if (isAsBefore) return;
  const { failed, released } = outcomes;
  for (const each of failed) log.error(each, 'mint failed');
  await step(steps[kind], { ...facts, waits, failed: failed.length, released: released.length });
}
