import type { ChainView } from './chain-view.ts';
import type { LaneContext } from './lane-context.ts';
import type { MintedIn, Outcomes } from './outcome-store.ts';
import type { Item, OpenTransaction } from './transaction-store.ts';

/** What became of one NFT, as the chain shows it; `unknown` when it does not show it clearly, or not yet. */
type Evidence =
  | { readonly kind: 'minted'; readonly in: MintedIn }
  | { readonly kind: 'failed'; readonly reason: string }
  | { readonly kind: 'absent' }
  | { readonly kind: 'unknown' };

/**
 * Looks for the mint of a token by the event of its contract, wherever it was.
 * @param depth blocks that must lie on it
 */
export async function findEvidence(
  { node }: LaneContext,
  view: ChainView,
  contract: string,
  item: Item,
  depth: bigint,
): Promise<Evidence> {
  const found = await node.findMint(contract, item.tokenId);
  if (found === null) return { kind: 'absent' };
  const block = await view.block(found.blockNumber);
  if (block?.hash !== found.blockHash || view.depthOf(block.number) < depth) return { kind: 'unknown' };
  if (found.recipient.toLowerCase() !== item.recipient.toLowerCase()) {
    const reason = `The token was minted to another recipient, ${found.recipient}, in transaction ${found.hash}.`;
    return { kind: 'failed', reason };
  }
  const { number: blockNumber, hash: blockHash, time } = block;
  return { kind: 'minted', in: { hash: found.hash, blockNumber, blockHash, time } };
}

/**
 * Proves what became of NFTs whose transaction minted nothing, at the newest final block: a token without an
 * owner and without the event of its mint may be sent again, one with an owner may not.
 * @returns undefined when anything stays unclear: then nothing changes
 */
export async function proveEnd(
  context: LaneContext,
  view: ChainView,
  { contract }: OpenTransaction,
  items: readonly Item[],
): Promise<Outcomes | undefined> {
  const finalized = await view.finalized();
  const depth = view.depthOf(finalized);
  const minted: { nftId: string; in: MintedIn }[] = [];
  const failed: { nftId: string; reason: string }[] = [];
  const released: string[] = [];
  for (const item of items) {
    const owner = await context.node.ownerOf(contract, item.tokenId, finalized);
    const evidence = await findEvidence(context, view, contract, item, depth);
    if (evidence.kind === 'minted') minted.push({ nftId: item.nftId, in: evidence.in });
    else if (evidence.kind === 'failed') failed.push({ nftId: item.nftId, reason: evidence.reason });
    else if (evidence.kind === 'absent' && owner === null) released.push(item.nftId);
    else return undefined;
  }
  return { minted, failed, released };
}
