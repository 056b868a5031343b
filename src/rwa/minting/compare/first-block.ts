import { firstBlockSince } from '../../../chain/minting/first-block-since.ts';
import type { MintNode } from '../../../chain/minting/mint-node.ts';
import type { Database } from '../../../contract/transaction.ts';
import { type ContractId, findBeginnings } from './token-row-store.ts';

type Search = ContractId & {
  readonly db: Database;
  readonly node: Pick<MintNode, 'block'>;
  /** The newest block that is read. */
  readonly newest: bigint;
  /** Whether final blocks were replaced, so that the blocks of RWAs say nothing any more. */
  readonly isRolledBack?: boolean;
};

/** How far the clocks of chain and database are apart at most, wherever a search begins by a time. */
export const clocksApartMs = 86_400_000;

/**
 * Finds the first block in which a mint of ours can be: nothing is minted before its asset is there. Of a contract that no asset
 * names any more, the first of all.
 * @throws when a node does not answer
 */
export async function firstBlockOf({
  db,
  node,
  newest,
  isRolledBack = false,
  ...id
}: Search): Promise<bigint> {
  const { block, madeAt } = await findBeginnings(db, id, !isRolledBack);
  const byBlock = block === null ? [] : [BigInt(block) + 1n];
  const since = madeAt && new Date(madeAt.getTime() - clocksApartMs);
  const byTime = since === null ? [] : [await firstBlockSince(node, since, newest)];
  const [first = 0n, ...others] = [...byBlock, ...byTime];
  return others.reduce((lowest, each) => (each < lowest ? each : lowest), first);
}
