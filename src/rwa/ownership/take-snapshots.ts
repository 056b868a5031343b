import { buildMerkleTree } from '../../chain/merkle-tree.ts';
import type { MintNode } from '../../chain/minting/mint-node.ts';
import type { Database } from '../../contract/transaction.ts';
import { inTransaction } from '../../db/connection/transaction.ts';
import { listHolders } from './holder-store.ts';
import { type DueSnapshot, listDueSnapshots, purgeSnapshotHolders, saveSnapshot } from './snapshot-store.ts';

/** What a poll of a network has read, of which snapshots may be taken. */
export type ReadLedgers = {
  readonly node: Pick<MintNode, 'block'>;
  readonly chainId: string;
  /** Those whose ledgers are on the chain of the node. */
  readonly contracts: readonly string[];
  /** The number of the newest final block. */
  readonly final: bigint;
};

type Taking = ReadLedgers & {
  readonly db: Database;
  /** Ids of snapshots that failed before: others of their companies come first. */
  readonly failed: Set<string>;
  /** Its end ends the work between two steps. */
  readonly signal: AbortSignal;
};

// A statement that deletes so many takes a fraction of a second.
const deletedAtOnce = 5_000;

/**
 * Takes the oldest snapshot of each company whose block is final, first the snapshots with few holders. The next
 * snapshot of a company waits for the next pass. A snapshot that cannot be taken is tried again when nothing else of
 * its company is due. Ledgers may go on meanwhile. First it deletes the rest of deleted snapshots: a company that
 * deletes and takes again stores no more than its share.
 * @throws the error of the first snapshot that fails, after all others
 */
export async function takeSnapshots(taking: Taking): Promise<void> {
  const failures: unknown[] = [];
  const snapshots = await listDueSnapshots(taking.db, taking);
  while (snapshots.length > 0 && (await purgeSnapshotHolders(taking.db, deletedAtOnce)) === deletedAtOnce)
    if (taking.signal.aborted) return;
  for (const due of snapshots) {
    if (taking.signal.aborted) return;
    await takeSnapshot(taking, due).catch((error: unknown) => {
      taking.failed.add(due.id);
      failures.push(error);
    });
  }
  if (failures.length > 0) throw failures[0];
}

/** Asks and computes before the transaction. A block that is final stays as it is meanwhile. */
async function takeSnapshot({ db, node, signal }: Taking, due: DueSnapshot): Promise<void> {
  const block = await node.block(due.block);
  if (block === null) throw new Error(`The node does not have the final block ${due.block}.`);
  const holders = await listHolders(db, due, due.block);
  const tree = holders.length === 0 ? null : await buildMerkleTree(holders);
  signal.throwIfAborted();
  await inTransaction(db, (tx) => saveSnapshot(tx, due, { block, holders, tree, signal }));
}
