import pLimit from 'p-limit';
import { ContractNonsenseError } from '../../chain/minting/evidence-node.ts';
import type { MintNode } from '../../chain/minting/mint-node.ts';
import type { Database } from '../../contract/transaction.ts';
import { findRwaLedger, listNftOwners, type NftPlaceOfContract } from './holder-store.ts';

/** An NFT whose contract names another owner than its newest `Transfer` event. */
export type OwnerFinding = {
  readonly kind: 'other_owner';
  readonly tokenId: string;
  readonly nftId: string;
  /** In words. */
  readonly detail: string;
};

type Comparison = {
  readonly db: Database;
  readonly node: Pick<MintNode, 'block' | 'ownerOf'>;
  readonly chainId: string;
  readonly contract: string;
  readonly signal: AbortSignal;
};

const questionsAtOnce = 5;
const pageSize = 1_000;

/**
 * Asks a contract who owns each minted NFT, at the newest block that its ledger has read.
 * @returns an iteration of those whose owner is another; none where nothing of the contract was read
 * @throws when the node does not answer, or has another chain than the ledger
 */
export async function* compareOwners({
  db,
  node,
  chainId,
  contract,
  signal,
}: Comparison): AsyncGenerator<OwnerFinding> {
  const ledger = await findRwaLedger(db, { chainId, contractAddress: contract });
  if (ledger === undefined) return;
  if ((await node.block(ledger.number))?.hash !== ledger.hash)
    throw new Error(
      `The node does not have block ${ledger.number} of the ledger of ${contract}. Repeat the command.`,
    );
  const few = pLimit(questionsAtOnce);
  let after: NftPlaceOfContract | undefined;
  for (;;) {
    signal.throwIfAborted();
    const page = await listNftOwners(db, { chainId, contract, block: ledger.number }, pageSize, after);
    const owners = await Promise.all(
      page.map(({ tokenId }) => few(() => ownerInWords(node, contract, tokenId, ledger.number))),
    );
    for (const [index, { nftId, tokenId, owner }] of page.entries()) {
      const expected = owner ?? 'nobody';
      if (owners[index] === expected) continue;
      const detail = `the newest Transfer event names ${expected}, and ownerOf ${owners[index]}: the contract moves tokens without Transfer`;
      yield { kind: 'other_owner', tokenId, nftId, detail };
    }
    after = page.at(-1);
    if (page.length < pageSize) return;
  }
}

async function ownerInWords(
  node: Comparison['node'],
  contract: string,
  tokenId: string,
  at: bigint,
): Promise<string> {
  try {
    return (await node.ownerOf(contract, tokenId, at)) ?? 'nobody';
  } catch (error) {
    if (error instanceof ContractNonsenseError) return 'no address';
    throw error;
  }
}
