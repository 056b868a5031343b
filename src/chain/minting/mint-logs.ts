import { nodeErrorCode, nodeMessage } from '../rpc/transport/node-message.ts';
import type { BlockRange, FoundMint } from './evidence-node.ts';
import { tooWide } from './log-words.ts';

/**
 * The search for the mints of tokens in the history of one contract. It can be left at any question and resumed
 * later: final blocks that were searched are not asked for again.
 */
export type MintSearch = {
  readonly tokenIds: readonly string[];
  /** The newest mint of each token in the searched blocks. */
  readonly found: Map<string, FoundMint>;
  /** The searched blocks, which are final; undefined while there are none. */
  searched: BlockRange | undefined;
  /** Whether the node has refused the block below the searched ones, because it no longer has its logs. */
  isPruned: boolean;
};

export const createMintSearch = (tokenIds: readonly string[]): MintSearch => ({
  tokenIds,
  found: new Map(),
  searched: undefined,
  isPruned: false,
});

/** How many blocks the node gives logs of at once, as far as it is known. */
export type LogWidth = {
  /** Blocks to ask for next time; undefined for all. */
  blocks: bigint | undefined;
  /** The smallest number that the node has called too large; undefined when it has called none so. */
  refused: bigint | undefined;
};

export const createLogWidth = (): LogWidth => ({ blocks: undefined, refused: undefined });

// What was narrower, and not called too wide, was a failure that has passed.
const narrowest = 500n;
// What most hosted nodes give.
const usual = 10_000n;

/** Widens again what failures of another cause have narrowed. Called when a search begins or is resumed. */
export function forgetFailures(width: LogWidth): void {
  const { blocks, refused } = width;
  const isAllowed = refused === undefined || refused > narrowest;
  if (isAllowed && blocks !== undefined && blocks < narrowest) width.blocks = narrowest;
}

export type SearchBounds = {
  /** The oldest block to be searched. */
  readonly lowest: bigint;
  /** The newest final block. */
  readonly final: bigint;
  readonly head: bigint;
  /**
   * Returns the first block of the contract, as far as it is known; asked for only when the node does not give the
   * whole range at once.
   */
  origin(): Promise<bigint | undefined>;
};

/**
 * - `complete`: every block from `lowest` on was searched, or every token was found;
 * - `pruned`: the node no longer has the logs of the blocks in `missing`.
 */
export type SearchEnd = {
  /** The newest mint of each token, of those that were found. */
  readonly mints: ReadonlyMap<string, FoundMint>;
  readonly missing: BlockRange | undefined;
};

type Ask = (range: BlockRange) => Promise<readonly FoundMint[]>;

/**
 * Searches for mints: in one question where the node allows it, otherwise in ranges that it accepts, first the
 * blocks that are new since the last time, then from the newest downwards.
 * @throws what `ask` throws; what was searched until then is kept in `search`
 */
export async function searchMints(
  search: MintSearch,
  ask: Ask,
  width: LogWidth,
  bounds: SearchBounds,
): Promise<SearchEnd> {
  const { final, head } = bounds;
  const whole = await searchAtOnce(search, ask, width, bounds);
  if (whole !== undefined) return { mints: whole, missing: undefined };

  search.searched ??= { from: final + 1n, to: final };
  const recent = await searchUpwards(search, search.searched.to + 1n, ask, width, { final, head });
  const mints = new Map([...search.found, ...recent]);
  if (search.tokenIds.every((tokenId) => mints.has(tokenId))) return { mints, missing: undefined };
  const missing = await searchDownwards(search, ask, width, bounds);
  return { mints: new Map([...search.found, ...recent]), missing };
}

/** @returns undefined when the node does not give so much at once, or the search has begun in parts */
async function searchAtOnce(search: MintSearch, ask: Ask, width: LogWidth, bounds: SearchBounds) {
  const { lowest, final, head } = bounds;
  const size = head - lowest + 1n;
  if (search.searched !== undefined || (width.blocks ?? size) < size) return undefined;
  try {
    const mints = newestOf(await ask({ from: lowest, to: head }));
    if (lowest <= final) search.searched = { from: lowest, to: final };
    keep(search, [...mints.values()], final);
    return mints;
  } catch (error) {
    const refusal = logRefusal(error);
    if (refusal === undefined) throw error;
    if (refusal !== 'pruned') narrow(width, size, refusal);
    search.searched = { from: final + 1n, to: final };
    return undefined;
  }
}

/** Searches the blocks above the searched ones. @returns mints in them, also those that are not final */
async function searchUpwards(
  search: MintSearch,
  first: bigint,
  ask: Ask,
  width: LogWidth,
  { final, head }: { readonly final: bigint; readonly head: bigint },
) {
  const mints = new Map<string, FoundMint>();
  let from = first;
  while (from <= head) {
    const { range, found } = await askPart(ask, width, { from, to: head }, 'from');
    for (const mint of found) mints.set(mint.tokenId, mint);
    keep(search, found, final);
    const to = range.to < final ? range.to : final;
    const { searched } = search;
    if (searched !== undefined && to > searched.to) search.searched = { from: searched.from, to };
    from = range.to + 1n;
  }
  return mints;
}

/** Searches the blocks below the searched ones. @returns the blocks that the node no longer has */
async function searchDownwards(
  search: MintSearch,
  ask: Ask,
  width: LogWidth,
  bounds: SearchBounds,
): Promise<BlockRange | undefined> {
  let { lowest } = bounds;
  let origin: bigint | undefined;
  for (;;) {
    const { searched } = search;
    const isDone = search.tokenIds.every((tokenId) => search.found.has(tokenId));
    if (searched === undefined || isDone || searched.from <= lowest) return undefined;
    origin ??= (await bounds.origin()) ?? lowest;
    if (origin > lowest) {
      lowest = origin;
      continue;
    }
    const rest = { from: lowest, to: searched.from - 1n };
    // Of blocks that were refused before, one is enough to learn that they still are.
    const wanted = search.isPruned ? { from: rest.to, to: rest.to } : rest;
    try {
      const { range, found } = await askPart(ask, width, wanted, 'to');
      keep(search, found, bounds.final);
      search.searched = { from: range.from, to: searched.to };
      search.isPruned = false;
    } catch (error) {
      if (logRefusal(error) !== 'pruned') throw error;
      search.isPruned = true;
      return rest;
    }
  }
}

/**
 * Asks for as much of a range as the node gives, from one end of it.
 * @param end the end of the range that stays
 */
async function askPart(ask: Ask, width: LogWidth, { from, to }: BlockRange, end: 'from' | 'to') {
  let size = to - from + 1n;
  if (width.blocks !== undefined && width.blocks < size) size = width.blocks;
  for (;;) {
    const range = end === 'from' ? { from, to: from + size - 1n } : { from: to - size + 1n, to };
    try {
      const found = await ask(range);
      if (size === width.blocks) widen(width);
      return { range, found };
    } catch (error) {
      const refusal = logRefusal(error);
      if (refusal === undefined || size === 1n) throw error;
      if (refusal !== 'pruned') narrow(width, size, refusal);
      size = narrower(size);
    }
  }
}

const narrower = (size: bigint) => (size > usual ? usual : size / 2n);

function narrow(width: LogWidth, size: bigint, refusal: 'too_wide' | 'too_slow'): void {
  width.blocks = narrower(size > 1n ? size : 2n);
  if (refusal === 'too_wide') width.refused = size;
}

/** Doubles the width, below what the node has refused. */
function widen(width: LogWidth): void {
  if (width.blocks === undefined) return;
  const wider = width.blocks * 2n;
  if (width.refused === undefined || wider < width.refused) width.blocks = wider;
}

/** Keeps the mints of final blocks. */
function keep(search: MintSearch, found: readonly FoundMint[], final: bigint): void {
  for (const mint of found) {
    const known = search.found.get(mint.tokenId);
    const isNewest = known === undefined || known.blockNumber <= mint.blockNumber;
    if (mint.blockNumber <= final && isNewest) search.found.set(mint.tokenId, mint);
  }
}

const newestOf = (mints: readonly FoundMint[]) => new Map(mints.map((mint) => [mint.tokenId, mint]));

const tooSlow = /no answer within|time(d)? ?-?out/i;
const prunedHistory = /pruned|histor\w* .*(unavailable|not available|expired)|(expired|missing) histor/i;
const prunedHistoryCode = 4444;

/**
 * Why a node does not give the logs, or a block, of a range:
 * - `pruned`: it no longer has them;
 * - `too_wide`: the range has more blocks or results than it gives at once;
 * - `too_slow`: it gave no answer in time, as it may for a narrower range.
 * @returns undefined for any other error
 */
export function logRefusal(error: unknown): 'pruned' | 'too_wide' | 'too_slow' | undefined {
  const message = nodeMessage(error);
  if (nodeErrorCode(error) === prunedHistoryCode || prunedHistory.test(message)) return 'pruned';
  if (tooWide.test(message)) return 'too_wide';
  return tooSlow.test(message) ? 'too_slow' : undefined;
}
