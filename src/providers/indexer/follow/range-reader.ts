import { creditRulesOf } from '../decode/credit-rules.ts';
import { decodeSteps } from '../decode/decode-block.ts';
import type { BlockHeader, IndexedBlock } from '../decode/domain.ts';
import { inTurns } from '../decode/turns.ts';
import { type WrittenBlock, writeSteps } from '../store/rows/history-rows.ts';
import { emptyBlock } from './height-gaps.ts';
import type { NodeBlocks } from './node-blocks.ts';
import type { Tries } from './tries.ts';

/** Blocks that form a chain, and why the next block of the range could not be read, where that is so. */
type Reading = {
  readonly blocks: readonly WrittenBlock[];
  readonly failure: { readonly error: unknown } | undefined;
};

type One = WrittenBlock | { readonly error: unknown } | undefined;

type RangeReaderOptions = {
  readonly blocks: Pick<NodeBlocks, 'blockAt' | 'headerAt'>;
  readonly tried: Tries;
  readonly wrapped: ReadonlySet<string>;
  readonly chainId: string;
};

type ReadRange = (from: bigint, to: bigint) => Promise<Reading>;

/**
 * The limit of a range; the rest is left to the next range. A movement takes some kilobytes on its way to its rows,
 * and a single transaction may have tens of thousands of movements.
 */
const mostMovements = 20_000;

/** The movements and approvals of a block. */
export function movementsIn({ transactions }: IndexedBlock): number {
  return transactions.reduce(
    (sum, { native, erc20, nft, approvals }) =>
      sum + native.length + erc20.length + nft.length + approvals.length,
    0,
  );
}

/** Reads and decodes blocks in parallel, up to the first that is missing, cannot be read or has no room. */
export function createRangeReader(
  { blocks, tried, wrapped, chainId }: RangeReaderOptions,
  isSkipped: (number: bigint) => boolean,
): ReadRange {
  const rules = creditRulesOf(chainId);
  const decoded = async (number: bigint, isLastTry: boolean): Promise<IndexedBlock | undefined> => {
    const source = await blocks.blockAt(number, isLastTry);
    return source && inTurns(decodeSteps(source, wrapped, rules));
  };
  return async (from, to) => {
    const numbers = Array.from({ length: Number(to - from) + 1 }, (_, index) => from + BigInt(index));
    let movements = 0;
    const read = async (number: bigint, isLastTry: boolean): Promise<WrittenBlock | undefined> => {
      // The first block is read in any case, so that the index goes on.
      if (number !== from && movements >= mostMovements) return undefined;
      const block = await (isSkipped(number) ? readSkipped(blocks, number) : decoded(number, isLastTry));
      if (block === undefined) return undefined;
      movements += movementsIn(block);
      return inTurns(writeSteps(chainId, block));
    };
    const readOne = (number: bigint): Promise<One> =>
      tried((isLastTry) => read(number, isLastTry)).catch((error: unknown) => ({ error }));
    return linked(await Promise.all(numbers.map(readOne)));
  };
}

/** A block that the operator skips: its place in the chain and nothing of its content. */
async function readSkipped(
  blocks: Pick<NodeBlocks, 'headerAt'>,
  number: bigint,
): Promise<IndexedBlock | undefined> {
  const own = await blocks.headerAt(number).catch(() => undefined);
  const header = own ?? (await headerBetween(blocks, number));
  return header && emptyBlock(header);
}

/** Returns the place of a block whose own header cannot be read, from its neighbours. */
async function headerBetween(
  blocks: Pick<NodeBlocks, 'headerAt'>,
  number: bigint,
): Promise<BlockHeader | undefined> {
  const [before, after] = await Promise.all([blocks.headerAt(number - 1n), blocks.headerAt(number + 1n)]);
  if (before === undefined || after === undefined) return undefined;
  return { number, hash: after.parentHash, parentHash: before.hash, timestamp: after.timestamp };
}

/**
 * Returns the blocks up to the first that does not follow its predecessor or has no room. Between a block and the
 * block that names it as its parent lies nothing, whatever a node says of the heights between them.
 */
function linked(found: readonly One[]): Reading {
  const chain: WrittenBlock[] = [];
  let movements = 0;
  let failure: Reading['failure'];
  for (const block of found) {
    const before = chain.at(-1);
    if (block !== undefined && 'error' in block) failure ??= block;
    // The caller checks what is before the first block of the range.
    if (before === undefined && (block === undefined || 'error' in block)) break;
    if (block === undefined || 'error' in block) continue;
    if (before !== undefined && block.header.parentHash !== before.header.hash) break;
    movements += movementsIn(block);
    if (before !== undefined && movements > mostMovements) {
      failure = undefined;
      break;
    }
    // The height that failed before has no block.
    failure = undefined;
    chain.push(block);
  }
  return { blocks: chain, failure };
}

type Range = {
  readonly from: bigint;
  readonly to: bigint;
  /** The final block before the range was read. A later block may be final on another branch. */
  readonly finalized: bigint;
};
type ReadingRange = Range & { readonly found: Promise<Reading> };

// In addition to the range that is being written. So the node always has work, and few blocks are in memory.
const rangesAhead = 2;

/** Reads a range, or returns the prefetched one with the same first block. */
export function createReadAhead(read: ReadRange) {
  let ahead: ReadingRange[] = [];
  const begin = (range: Range): ReadingRange => ({ ...range, found: read(range.from, range.to) });
  const drop = () => {
    ahead = [];
  };
  return {
    take(range: Range): ReadingRange {
      if (ahead[0]?.from !== range.from) drop();
      return ahead.shift() ?? begin(range);
    },
    /**
     * Begins to read the range that follows.
     * @param next the range from a block on; undefined after the last
     */
    prepare(after: Range, next: (from: bigint) => Range | undefined) {
      while (ahead.length < rangesAhead) {
        const range = next((ahead.at(-1) ?? after).to + 1n);
        if (range === undefined) return;
        const begun = begin(range);
        begun.found.catch(() => {}); // take() passes the error on
        ahead.push(begun);
      }
    },
    drop,
  };
}
