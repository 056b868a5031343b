import type { DataProviderName, Network } from '../../chain/rpc/client/network.ts';
import { acquireLease } from '../../db/leases/lease.ts';
import { indexLeaseName } from '../../providers/indexer/follow/index-runner.ts';
import { deleteIndex } from '../../providers/indexer/store/rollback/reset-store.ts';
import { findIndexState } from '../../providers/indexer/store/write/index-state-store.ts';
import { OperationError, UsageError } from '../shared/failure.ts';
import { interruptible, type Operator, type Session } from '../shared/session.ts';

/** Checks a first block that is asked for. @throws UsageError when the index has begun at another block */
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

/** Says that the rows of an index stay when its network changes to another data provider. */
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

// An indexer learns at once that its network is gone, and after 15 s even if the notification is lost.
const letGoMs = 60_000;

/** Deletes the index of a removed network, once no process writes to it any more. */
export async function removeIndex(session: Session, operator: Operator, chainId: string): Promise<void> {
  const left = `Network ${chainId} is removed, but its index is not. Delete it: tallystick index reset ${chainId}`;
  await interruptible(session, left, async (interrupted) => {
    const signal = AbortSignal.any([interrupted, AbortSignal.timeout(letGoMs)]);
    const { db, log } = operator;
    const progress = operator.output.progress('Deleting the index', 'parts');
    try {
      const lease = await acquireLease({ db, name: indexLeaseName(chainId), log, signal });
      await deleteIndex(db, chainId, { signal: interrupted, onProgress: progress.update }).finally(
        lease.release,
      );
    } catch (error) {
      throw new OperationError(left, { cause: error });
    } finally {
      progress.stop();
    }
  });
}
