import { firstBlockSince } from '../../../chain/minting/first-block-since.ts';
import type { MintNode } from '../../../chain/minting/mint-node.ts';
import type { Database } from '../../../contract/transaction.ts';
import { type ContractId, findOldestAsset } from './token-row-store.ts';
import { clockToleranceMs } from './token-verdict.ts';

type Search = ContractId & {
  readonly db: Database;
  readonly node: Pick<MintNode, 'block'>;
  /** The newest block that is read. */
  readonly newest: bigint;
};

/**
 * Finds the first block in which a mint of ours can be: nothing is minted before its asset is there. Of a contract that no asset
 * names any more, the first of all.
 * @throws when a node does not answer
 */
export async function firstBlockOf({ db, node, newest, ...id }: Search): Promise<bigint> {
  const created = await findOldestAsset(db, id);
  if (created === undefined) return 0n;
  return firstBlockSince(node, new Date(created.getTime() - clockToleranceMs), newest);
}
