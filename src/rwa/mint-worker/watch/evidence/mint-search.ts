import type { MintEvent } from '../../../../chain/minting/evidence-node.ts';
import { type BlockRange, isErrorOfNode, scanLogs } from '../../../../chain/minting/log-scan.ts';
import { clocksApartMs } from '../../../minting/compare/first-block.ts';
import type { MintSearch } from '../../context/lane-memory.ts';
import { remember } from '../../context/rests.ts';
import type { TransactionNft } from '../../stores/transaction-nft-store.ts';
import type { Look } from './look.ts';

const createMintSearch = (tokenIds: readonly string[]): MintSearch => ({
  tokenIds,
  found: new Map(),
  searched: undefined,
});

type Subject = { readonly id: string; readonly contract: string };

/** The search for the NFTs of a transaction: one for all of them. */
export function searchFor({ context }: Look, { id }: Subject, nfts: readonly TransactionNft[]): MintSearch {
  const { searches } = context.memory;
  const known = searches.get(id);
  if (known !== undefined && nfts.every(({ tokenId }) => known.tokenIds.includes(tokenId))) return known;
  return remember(searches, id, createMintSearch(nfts.map(({ tokenId }) => tokenId)));
}

export type SearchEnd = {
  /** The newest mint of each token, of those that were found. */
  readonly mints: ReadonlyMap<string, MintEvent>;
  /** Blocks that were to be searched, and whose logs the node does not give. */
  readonly missing?: BlockRange & { readonly error: unknown };
};

/**
 * Searches for the mints of NFTs. It reads the blocks that are new since the last poll, then older blocks downwards. It ends
 * at the block that was final when the first of their RWAs was made. For RWAs without that block, it ends a day before the
 * first of their NFTs was made.
 * @throws PacedError; what the questions throw
 */
export async function searchMints(
  look: Look,
  { contract }: Subject,
  nfts: readonly TransactionNft[],
  known: MintSearch,
): Promise<SearchEnd> {
  const { context, inquiry, head } = look;
  const { width } = context.memory;
  const final = look.finalized;
  // Before the first final block, no part of the search is kept.
  const search = final < 0n ? createMintSearch(known.tokenIds) : known;
  const base = final < 0n ? head.number : final;
  const { tokenIds, found } = search;
  const ask = (part: BlockRange) => inquiry.ask(() => context.node.mintsIn(contract, part, tokenIds));

  search.searched ??= { from: base + 1n, to: base };
  const { searched } = search;
  const recent = new Map<string, MintEvent>();
  for await (const { logs, to } of scanLogs(ask, { from: searched.to + 1n, to: head.number }, width)) {
    for (const mint of logs) (mint.blockNumber <= base ? found : recent).set(mint.tokenId, mint);
    if (searched.to < base) searched.to = to < base ? to : base;
  }
  const all = () => new Map([...found, ...recent]);

  const timed = nfts.filter(({ firstBlock }) => firstBlock === 0n);
  // No search by time ends above this block.
  const lowest = nfts.reduce(
    (least, nft) => (0n < nft.firstBlock && nft.firstBlock < least ? nft.firstBlock : least),
    base + 1n,
  );
  const first = timed.length === 0 ? lowest : 0n;
  const oldest = Math.min(...timed.map(({ createdAt }) => createdAt.getTime())) - clocksApartMs;
  const isOver = async () => {
    const mints = all();
    if (searched.from <= first || tokenIds.every((tokenId) => mints.has(tokenId))) return true;
    if (searched.from > lowest) return false;
    const block = await inquiry.ask(() => look.block(searched.from));
    return block !== null && block.time.getTime() < oldest;
  };
  if (await isOver()) return { mints: all() };
  try {
    for await (const { from, logs } of scanLogs(ask, { from: first, to: searched.from - 1n }, width, 'to')) {
      // Mints of later blocks are newer.
      for (const mint of logs.toReversed()) if (!found.has(mint.tokenId)) found.set(mint.tokenId, mint);
      searched.from = from;
      if (await isOver()) break;
    }
    return { mints: all() };
  } catch (error) {
    const isGiven = searched.from <= searched.to || head.number > base;
    if (!isGiven || !isErrorOfNode(error)) throw error;
    return { mints: all(), missing: { from: first, to: searched.from - 1n, error } };
  }
}
