import type { MintNode } from '../../../chain/minting/mint-node.ts';
import type { Database } from '../../../contract/transaction.ts';
import { type Bisection, bisect, createBisection } from './bisect.ts';
import { findContractOrigin, saveContractOrigin } from './contract-origin-store.ts';
import type { ContractId } from './token-row-store.ts';

export type OriginSearch = ContractId & {
  readonly db: Database;
  readonly node: Pick<MintNode, 'hasCode' | 'block'>;
  /** The newest block that is looked at. */
  readonly newest: bigint;
  /** Asks one question, for those who bound or pace them. */
  readonly ask?: <T>(question: () => Promise<T>) => Promise<T>;
  /** Where an earlier search has left off; one of this contract. */
  readonly bisection?: Bisection;
};

/**
 * The block in which a contract was created: the stored one, or found by its code where the node has the state of old
 * blocks, and stored. No event of the contract is older.
 * @returns null when the contract has no code; undefined when that is unclear
 * @throws what the questions throw, among it the refusal of a node without the state of old blocks
 */
export async function findOrigin(search: OriginSearch): Promise<bigint | null | undefined> {
  const { db, node, chainId, contract, newest, bisection = createBisection(newest) } = search;
  const { ask = (question) => question() } = search;
  const stored = await findContractOrigin(db, chainId, contract);
  if (stored !== undefined) {
    const block = await ask(() => node.block(stored.number));
    // Otherwise it is of another chain that had the same id.
    if (block?.hash === stored.hash) return stored.number;
  }
  if (!(await ask(() => node.hasCode(contract, newest)))) return null;
  const first = await bisect(bisection, (at) => ask(() => node.hasCode(contract, at)));
  const block = await ask(() => node.block(first));
  // A search that was resumed may have begun on another chain.
  if (block === null || !(await ask(() => node.hasCode(contract, first)))) return undefined;
  await saveContractOrigin(db, chainId, contract, block);
  return first;
}

/** The same, for those who begin elsewhere when it is not to be found out: undefined then. */
export async function findOriginIfShown(search: OriginSearch): Promise<bigint | null | undefined> {
  if (!(await search.node.hasCode(search.contract, search.newest))) return null;
  try {
    return await findOrigin(search);
  } catch {
    // Nodes without archive state refuse old blocks in many words.
    return undefined;
  }
}
