import { creditRulesOf } from '../decode/credit-rules.ts';
import { decodeSteps } from '../decode/decode-block.ts';
import type { BlockHeader, IndexedBlock } from '../decode/domain.ts';
import { inTurns } from '../decode/turns.ts';
import { type WrittenBlock, writeSteps } from '../store/rows/history-rows.ts';
import { emptyBlock } from './height-gaps.ts';
import type { NodeBlocks } from './node-blocks.ts';
import type { Tries } from './tries.ts';

export type WindowOptions = {
  readonly blocks: Pick<NodeBlocks, 'blockAt' | 'headerAt'>;
  readonly tried: Tries;
  /** Number of blocks that are read at once. */
  readonly parallel: number;
  readonly wrapped: ReadonlySet<string>;
  readonly chainId: string;
};

type Range = {
  readonly from: bigint;
  /** The last block that may be read. */
  readonly end: bigint;
  /** The final block at present. A later block may be final on another branch. */
  readonly finalized: bigint;
  /** Greatest number of blocks to take. */
  readonly most: number;
};

type Taken = {
  /** Blocks that form a chain. None where the first block is missing or cannot be read. */
  readonly blocks: readonly WrittenBlock[];
  /** The final block before these were read. */
  readonly finalized: bigint;
  /** Why the first block cannot be read, where that is so. */
  readonly failure: Failure | undefined;
};

type Failure = { readonly error: unknown };
type Found = WrittenBlock | Failure | undefined;
type Ahead = {
  readonly number: bigint;
  readonly finalized: bigint;
  readonly found: Promise<Found>;
  /** 0 until the block has been read. */
  weight: number;
};

/**
 * The weight of the blocks that are written together, and of the blocks that wait meanwhile. It is large enough for the
 * bulk insert to pay, and bounds memory for blocks of any size.
 */
const mostWeight = 1_000;
// Recorded blocks have 2 or 3 movements for each transaction, 11 at most. A single one may have tens of thousands, and
// each takes some kilobytes on its way to its rows.
const movementsOfTransaction = 20;

function weightOf({ transactions }: IndexedBlock): number {
  const movements = transactions.reduce(
    (sum, { native, erc20, nft, approvals }) =>
      sum + native.length + erc20.length + nft.length + approvals.length,
    0,
  );
  return transactions.length + movements / movementsOfTransaction;
}

const isRead = (found: Found): found is WrittenBlock => found !== undefined && !('error' in found);

/** Reads and decodes blocks ahead of the index, and returns them in the order of the chain. */
export function createBlockWindow(options: WindowOptions, isSkipped: (number: bigint) => boolean) {
  const { tried, parallel } = options;
  const read = createBlockReader(options, isSkipped);
  let range: Range = { from: 0n, end: -1n, finalized: -1n, most: 0 };
  let ahead: Ahead[] = [];
  let next = 0n;
  // Reads of dropped blocks too, which the node is still busy with.
  let underWay = 0;

  const hasRoom = () =>
    underWay < parallel &&
    ahead.length < range.most &&
    ahead.reduce((sum, { weight }) => sum + weight, 0) < mostWeight;
  const fill = () => {
    // The first block is read in any case, so that the index goes on.
    while (next <= range.end && (ahead.length === 0 || hasRoom())) {
      ahead.push(begin(next));
      next += 1n;
    }
  };
  const begin = (number: bigint): Ahead => {
    underWay += 1;
    const reading = tried((isLastTry) => read(number, isLastTry)).catch((error: unknown) => ({ error }));
    const found = reading.then((block) => {
      underWay -= 1;
      if (isRead(block)) entry.weight = weightOf(block);
      fill();
      return block;
    });
    const entry = { number, finalized: range.finalized, found, weight: 0 };
    return entry;
  };
  const drop = () => {
    ahead = [];
    next = range.end + 1n;
  };

  return {
    /**
     * Returns the next blocks, and begins to read the blocks behind them. They end before the first block that does not
     * follow its predecessor. Between a block and the block that names it as its parent lies nothing, whatever a node
     * says of the heights between them.
     */
    async take(wanted: Range): Promise<Taken> {
      range = wanted;
      if (ahead[0]?.number !== range.from) {
        ahead = [];
        next = range.from;
      }
      fill();
      const blocks: WrittenBlock[] = [];
      const finalized = ahead[0]?.finalized ?? range.finalized;
      let [weight, seen, taken] = [0, 0, 0];
      let failure: Failure | undefined;
      // The list grows meanwhile.
      for (const entry of ahead) {
        const found = await entry.found;
        const before = blocks.at(-1);
        seen += 1;
        if (isRead(found)) {
          // The caller checks what is before the first block.
          if (before !== undefined && found.header.parentHash !== before.header.hash) break;
          blocks.push(found);
          weight += entry.weight;
          taken = seen;
          if (weight >= mostWeight || blocks.length >= range.most) break;
        } else if (before === undefined) {
          failure = found;
          break;
        }
      }
      // The missing blocks may have come since, and a block that does not follow is of another branch.
      if (seen > taken) drop();
      else ahead.splice(0, taken);
      fill();
      return { blocks, finalized, failure };
    },
    /** Forgets the blocks that were read ahead. */
    drop,
  };
}

function createBlockReader(
  { blocks, wrapped, chainId }: WindowOptions,
  isSkipped: (number: bigint) => boolean,
) {
  const rules = creditRulesOf(chainId);
  const decoded = async (number: bigint, isLastTry: boolean): Promise<IndexedBlock | undefined> => {
    const source = await blocks.blockAt(number, isLastTry);
    return source && inTurns(decodeSteps(source, wrapped, rules));
  };
  return async (number: bigint, isLastTry: boolean): Promise<WrittenBlock | undefined> => {
    const block = await (isSkipped(number) ? readSkipped(blocks, number) : decoded(number, isLastTry));
    return block && inTurns(writeSteps(chainId, block));
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
