import { broadcast } from '../../context/broadcast.ts';
import type { LaneContext } from '../../context/lane-context.ts';
import { attemptFacts } from '../../context/step-facts.ts';
import { type Attempt, readRawAttempt } from '../../stores/attempt-store.ts';
import type { OpenTransaction } from '../../stores/transaction-store.ts';

/** Broadcasts an attempt again as it is, unless one of its transaction has just been. */
export async function rebroadcastAttempt(
  context: LaneContext,
  transaction: OpenTransaction,
  attempt: Attempt,
): Promise<void> {
  const { db, memory, now, settings, step } = context;
  const broadcastAt = memory.broadcastAt.get(transaction.id);
  if (broadcastAt !== undefined && now() - broadcastAt < settings.rebroadcastMs) return;
  const raw = await readRawAttempt(db, attempt.hash);
  await broadcast(context, transaction.id, { hash: attempt.hash, raw }, attempt.fees);
  await step('rebroadcast', attemptFacts(transaction, attempt));
}
