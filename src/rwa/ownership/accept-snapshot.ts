import { problem } from '../../base/errors.ts';
import type { Tx } from '../../contract/transaction.ts';
import type { RwaDetail } from '../assets/rwa-row.ts';
import { countHolders } from './holder-store.ts';
import {
  countSnapshots,
  findSnapshotAt,
  insertSnapshot,
  lockSnapshots,
  type Snapshot,
  type SnapshotUse,
} from './snapshot-store.ts';

// The worker takes one of each company in a poll.
const mostPending = 5;

/**
 * Accepts a snapshot of an RWA at a block. The same RWA and block is the same snapshot.
 * @param mostHolders that the snapshots of the company may store
 * @throws ProblemError `too_many_pending_snapshots`, `snapshot_holders_full`
 */
export async function acceptSnapshot(
  tx: Tx,
  rwa: RwaDetail,
  block: bigint,
  mostHolders: number,
): Promise<{ readonly snapshot: Snapshot; readonly isNew: boolean }> {
  const of = { companyId: rwa.companyId, rwaId: rwa.id, block };
  await lockSnapshots(tx, rwa.companyId);
  const present = await findSnapshotAt(tx, of);
  if (present !== undefined) return { snapshot: present, isNew: false };
  const use = await assertFewPending(tx, rwa.companyId);
  const holders = await countHolders(tx, rwa, block);
  const left = Math.max(0, mostHolders - use.holders);
  if (holders > left)
    throw problem('snapshot_holders_full', {
      holders: String(holders),
      left: String(left),
      oldest: use.oldest ?? 'none',
    });
  return { snapshot: await insertSnapshot(tx, of, holders), isNew: true };
}

/**
 * Returns what the snapshots of a company take.
 * @throws ProblemError `too_many_pending_snapshots`
 */
export async function assertFewPending(tx: Tx, companyId: string): Promise<SnapshotUse> {
  const use = await countSnapshots(tx, companyId);
  if (use.pending < mostPending) return use;
  const oldest = use.oldestPending ?? 'none';
  throw problem('too_many_pending_snapshots', { most: String(mostPending), oldest });
}
