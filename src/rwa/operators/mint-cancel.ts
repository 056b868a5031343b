import type { MintNode } from '../../chain/minting/mint-node.ts';
import type { Network } from '../../chain/network.ts';
import type { Database } from '../../contract/transaction.ts';
import { inTransaction } from '../../db/transaction.ts';
import { deleteMintNotes } from '../minting/mint-note-store.ts';
import { cancelNft } from '../minting/mint-state-store.ts';
import { findRequestedMint } from './mint-admin-store.ts';

type Deps = {
  readonly db: Database;
  readonly findNetwork: (chainId: string) => Promise<Network | undefined>;
  readonly nodeOf: (network: Network) => Pick<MintNode, 'head' | 'finalized' | 'ownerOf'>;
};

/**
 * Takes an accepted mint back, so that nobody has asked for it: of an NFT that is queued or failed, is in no transaction
 * that can still be mined, and whose token has no owner, neither at the newest block nor at the newest final one.
 * @returns why it was not taken back, in words; undefined when it was
 * @throws when no node answers: then nothing has changed
 */
export async function cancelMint(
  { db, findNetwork, nodeOf }: Deps,
  nftId: string,
): Promise<string | undefined> {
  const mint = await findRequestedMint(db, nftId);
  if (mint === undefined) return `No NFT ${nftId} is queued or has failed. See: tallystick mint list`;
  if (mint.isInTransaction) return stillInTransaction(nftId);
  const network = await findNetwork(mint.chainId);
  if (network === undefined)
    return `Network ${mint.chainId} is not registered, so its chain cannot be asked.`;
  const node = nodeOf(network);
  const head = await node.head();
  const finalized = await node.finalized(head, network.finalityDepth);
  for (const block of finalized < 0n ? [head.number] : [head.number, finalized]) {
    const owner = await node.ownerOf(mint.contract, mint.tokenId, block);
    // Of a contract that answers anything, no owner is the zero address.
    if (owner !== null && BigInt(owner) !== 0n) {
      return `Token ${mint.tokenId} of ${mint.contract} has an owner, ${owner}. Let it be queued: tallystick mint retry`;
    }
  }
  const isCancelled = await inTransaction(db, async (tx) => {
    const cancelled = await cancelNft(tx, nftId);
    if (cancelled) await deleteMintNotes(tx, [nftId]);
    return cancelled;
  });
  return isCancelled ? undefined : stillInTransaction(nftId);
}

const stillInTransaction = (nftId: string) =>
  `NFT ${nftId} is in a transaction that may still be mined. See: tallystick mint show ${nftId}`;
