import { buildMerkleTree } from '../../chain/merkle-tree.ts';
import type { MintNode } from '../../chain/minting/mint-node.ts';
import type { Database } from '../../contract/transaction.ts';
import { inTransaction } from '../../db/connection/transaction.ts';
import { type Holder, listHolders } from './holder-store.ts';
import { type DueSnapshot, listDueSnapshots, type SnapshotHolder, saveSnapshot } from './snapshot-store.ts';

type Taking = {
  readonly db: Database;
  readonly node: Pick<MintNode, 'block'>;
  readonly chainId: string;
  /** Those whose ledgers are on the chain of the node. */
  readonly contracts: readonly string[];
  /** The number of the newest final block. */
  readonly final: bigint;
  /** Ids of snapshots that failed before: others of their companies come first. */
  readonly failed: Set<string>;
};

/**
 * Takes the oldest snapshot of each company whose block is final. The next one of a company waits for the next poll. What cannot be taken
 * is tried again when nothing else of its company is due.
 * @throws what the first that fails has thrown, after all others
 */
export async function takeSnapshots(taking: Taking): Promise<void> {
  const failures: unknown[] = [];
  for (const due of await listDueSnapshots(taking.db, taking))
    await takeSnapshot(taking, due).catch((error: unknown) => {
      taking.failed.add(due.id);
      failures.push(error);
    });
  if (failures.length > 0) throw failures[0];
}

/** Asks and computes before the transaction. A block that is final stays as it is meanwhile. */
async function takeSnapshot({ db, node }: Taking, due: DueSnapshot): Promise<void> {
  const block = await node.block(due.block);
  if (block === null) throw new Error(`The node does not have the final block ${due.block}.`);
  const { root, holders } = await proveHolders(await listHolders(db, due, due.block));
  await inTransaction(db, (tx) => saveSnapshot(tx, due.id, block, root, holders));
}

/** The root of the tree of wallets and counts, and the proof of each wallet. */
async function proveHolders(
  holders: readonly Holder[],
): Promise<{ root: string | null; holders: SnapshotHolder[] }> {
  if (holders.length === 0) return { root: null, holders: [] };
  const { root, proofs } = await buildMerkleTree(holders);
  return { root, holders: holders.map((holder, index) => ({ ...holder, proof: proofs[index] ?? [] })) };
}
