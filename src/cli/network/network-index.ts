import type { DataProviderName, Network } from '../../chain/network.ts';
import { acquireAdvisoryLock } from '../../db/advisory-lock.ts';
import { createLogger } from '../../log.ts';
import { indexLockName } from '../../providers/indexer/follow/index-runner.ts';
import { findIndexState } from '../../providers/indexer/store/index-state-store.ts';
import { deleteIndex } from '../../providers/indexer/store/reset-store.ts';
import { OperationError, UsageError } from '../shared/failure.ts';
import { interruptible, type Operator, type Session } from '../shared/session.ts';

/** @throws UsageError when the index has begun at another block already */
export async function assertIndexFits(
  operator: Operator,
  chainId: string,
  indexFrom: number | undefined,
): Promise<void> {
  const begun = indexFrom === undefined ? undefined : await findIndexState(operator.db, chainId);
  if (begun === undefined || begun.startBlock === BigInt(indexFrom ?? 0)) return;
  throw new UsageError(
    `The index of network ${chainId} began at block ${begun.startBlock}: --index-from has no effect any more. ` +
      `Delete the index first: tallystick index reset ${chainId}`,
  );
}

/** Where a network leaves the index, its rows stay for the day on which it comes back. */
export async function sayWhatStays(
  operator: Operator,
  { chainId, dataProvider: before }: Network,
  after: DataProviderName | undefined,
): Promise<void> {
  if (before !== 'indexer' || after === undefined || after === 'indexer') return;
  if ((await findIndexState(operator.db, chainId)) === undefined) return;
  operator.output.say(
    `The index of network ${chainId} stays as it is and goes on from there with --provider indexer. ` +
      `To delete it: tallystick index reset ${chainId}`,
  );
}

// An indexer hears at once that its network is gone, and after 15 s even if the message is lost.
const letGoMs = 60_000;

/** Deletes the index of a network that was removed, once nobody writes it any more. */
export async function removeIndex(session: Session, operator: Operator, chainId: string): Promise<void> {
  const left = `Network ${chainId} is removed, but its index is not. Delete it: tallystick index reset ${chainId}`;
  await interruptible(session, left, async (interrupted) => {
    const signal = AbortSignal.any([interrupted, AbortSignal.timeout(letGoMs)]);
    const parts = { url: operator.config.DATABASE_URL, log: createLogger({ level: 'silent' }), signal };
    const progress = operator.output.progress('Deleting the index', 'tables');
    try {
      const lock = await acquireAdvisoryLock({ ...parts, name: indexLockName(chainId) });
      await deleteIndex(operator.db, chainId, { signal: interrupted, onProgress: progress.update }).finally(
        lock.release,
      );
    } catch (error) {
      throw new OperationError(left, { cause: error });
    } finally {
      progress.stop();
    }
  });
}
