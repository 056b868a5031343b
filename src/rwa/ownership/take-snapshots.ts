import { buildMerkleTree } from '../../chain/merkle-tree.ts';
import type { MintNode } from '../../chain/minting/mint-node.ts';
import type { Database } from '../../contract/transaction.ts';
import { inTransaction } from '../../db/connection/transaction.ts';
import { type Holder, listHolders } from './holder-store.ts';
import { lockDueSnapshot, type SnapshotHolder, saveSnapshot } from './snapshot-store.ts';

type Taking = {
  readonly db: Database;
  readonly node: Pick<MintNode, 'block'>;
  readonly chainId: string;
  /** Those whose ledgers are on the chain of the node. */
  readonly contracts: readonly string[];
  /** The number of the newest final block. */
  readonly final: bigint;
};

/** Takes the snapshots of contracts whose blocks are final. */
export async function takeSnapshots({ db, node, final, ...of }: Taking): Promise<void> {
  const takeOne = () =>
    inTransaction(db, async (tx) => {
      const due = await lockDueSnapshot(tx, of, final);
      if (due === undefined) return false;
      const block = await node.block(due.block);
      if (block === null) throw new Error(`The node does not have the final block ${due.block}.`);
      const { root, holders } = await proveHolders(await listHolders(tx, due, due.block));
      await saveSnapshot(tx, due.id, block, root, holders);
      return true;
    });
  while (await takeOne());
}

/** The root of the tree of wallets and counts, and the proof of each wallet. */
async function proveHolders(
  holders: readonly Holder[],
): Promise<{ root: string | null; holders: SnapshotHolder[] }> {
  if (holders.length === 0) return { root: null, holders: [] };
  const { root, proofs } = await buildMerkleTree(holders);
  return { root, holders: holders.map((holder, index) => ({ ...holder, proof: proofs[index] ?? [] })) };
}
