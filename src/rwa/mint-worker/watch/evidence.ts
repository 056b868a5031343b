import type { LaneContext } from '../lane-context.ts';
import type { TransactionNft } from '../stores/transaction-nft-store.ts';
import type { Inclusion, OpenTransaction } from '../stores/transaction-store.ts';
import type { ChainView } from './chain-view.ts';
import type { FailedNft, MintedNft, Outcomes } from './outcomes.ts';

/** What the chain shows about the mint of one NFT; `unknown` when it is unclear, or not deep enough yet. */
type Evidence =
  | { readonly kind: 'minted'; readonly in: Inclusion }
  | { readonly kind: 'failed'; readonly reason: string }
  | { readonly kind: 'absent' }
  | { readonly kind: 'unknown' };

/**
 * Looks for the mint of a token in any transaction, by the event of its contract.
 * @param minDepth depth that the block of the event must have, 1 for the newest block
 */
export async function findEvidence(
  { node }: LaneContext,
  view: ChainView,
  contract: string,
  nft: TransactionNft,
  minDepth: bigint,
): Promise<Evidence> {
  const found = await node.findMint(contract, nft.tokenId);
  if (found === null) return { kind: 'absent' };
  const block = await view.block(found.blockNumber);
  if (block?.hash !== found.blockHash) return { kind: 'unknown' };
  if (view.depthOf(block.number) < minDepth) return { kind: 'unknown' };
  if (found.recipient.toLowerCase() !== nft.recipient.toLowerCase()) {
    const reason = `The token was minted to another recipient, ${found.recipient}, in transaction ${found.hash}.`;
    return { kind: 'failed', reason };
  }
  const inclusion = {
    hash: found.hash,
    blockNumber: block.number,
    blockHash: block.hash,
    time: block.time,
  };
  return { kind: 'minted', in: inclusion };
}

/**
 * Proves what became of NFTs that their transaction did not mint, at the newest final block. A token without an
 * owner and without a mint event can be sent again; one with an owner cannot.
 * @returns undefined when the outcome of any NFT is unclear; then nothing must change yet
 */
export async function proveOutcomes(
  context: LaneContext,
  view: ChainView,
  { contract }: OpenTransaction,
  nfts: readonly TransactionNft[],
): Promise<Outcomes | undefined> {
  const finalized = await view.finalized();
  const depth = view.depthOf(finalized);
  const minted: MintedNft[] = [];
  const failed: FailedNft[] = [];
  const released: string[] = [];
  for (const nft of nfts) {
    const { nftId } = nft;
    const owner = await context.node.ownerOf(contract, nft.tokenId, finalized);
    const evidence = await findEvidence(context, view, contract, nft, depth);
    if (evidence.kind === 'minted') minted.push({ nftId, in: evidence.in });
    else if (evidence.kind === 'failed') failed.push({ nftId, reason: evidence.reason });
    else if (evidence.kind === 'absent' && owner === null) released.push(nftId);
    else return undefined;
  }
  return { minted, failed, released };
}
