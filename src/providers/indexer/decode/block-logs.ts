import type { SkippedLog } from './domain.ts';
import { LogShapeError } from './log-words.ts';
import { createMetadataChanges } from './metadata-changes.ts';
import type { RawLog } from './raw-block.ts';

/**
 * The state that the logs of one block share: settings, what is kept next to transactions, and limits for the whole
 * block. Any contract logs what it likes, and one log may stand for thousands of movements. Room is given in the
 * order of the block, so a second read of the block has the same result.
 */
export type BlockLogs = {
  /** Contracts whose deposit and withdrawal events mint and burn a wrapped native token. */
  readonly wrapped: ReadonlySet<string>;
  /** The contract that logs movements of the native asset as if it were an ERC-20. */
  readonly nativeAsset: string | null;
  /** What the value of a transfer is, of contracts whose logs have the form of the other. */
  readonly values: TokenValues;
  /** Contracts that check the signatures of user operations (ERC-4337). */
  readonly entryPoints: ReadonlySet<string>;
  readonly skipped: readonly SkippedLog[];
  readonly metadata: ReturnType<typeof createMetadataChanges>;
  /** Notes a log that is left out. */
  skip(log: RawLog, reason: string): void;
  /** Reserves room for the tokens of a range (ERC-2309). @throws LogShapeError where there is none */
  takeRange(tokens: number): void;
  /** Reserves room for the tokens of a batch (ERC-1155). @throws LogShapeError where there is none */
  takeBatch(tokens: number): void;
};

// A range costs 2,100 gas, whatever its length. A collection mints once, some 10,000 tokens at most.
const mostInRanges = 20_000;

// A token costs 256 gas to log and some 10,000 to move: a block of 60 million gas that moves nothing else has 6,000.
const mostInBatches = 20_000;

// A log costs 750 gas, so a block may have some 100,000 logs. The rows are for people who search for a missing log.
const mostSkipped = 10_000;

/** `amount` of an ERC-20 that indexes it, or the `id` of an NFT that does not index it. */
export type TokenValues = ReadonlyMap<string, 'amount' | 'id'>;

export type LogSettings = {
  readonly nativeAsset?: string | null | undefined;
  readonly values?: TokenValues | undefined;
  /** In addition to the contracts of ERC-4337. */
  readonly entryPoints?: readonly string[] | undefined;
};

// ERC-4337, releases 0.6 to 0.9. Each checks the signature of an operation before it runs, and has no owner.
const knownEntryPoints = [
  '0x5ff137d4b0fdcd49dca30c7cf57e578a026d2789',
  '0x0000000071727de22e5e9d8baf0edac6f37da032',
  '0x4337084d9e255ff0702461cf8895ce9e3b5ff108',
  '0x433709009b8330fda32311df1c2afa402ed8d009',
];

export function createBlockLogs(wrapped: ReadonlySet<string>, settings: LogSettings = {}): BlockLogs {
  const { nativeAsset = null, values = new Map(), entryPoints = [] } = settings;
  const skipped: SkippedLog[] = [];
  return {
    wrapped,
    nativeAsset,
    values,
    entryPoints: new Set([...knownEntryPoints, ...entryPoints]),
    skipped,
    metadata: createMetadataChanges(),
    skip({ index: logIndex, address, topics: [topic = ''] }, reason) {
      if (skipped.length < mostSkipped) skipped.push({ logIndex, address, topic, reason });
    },
    takeRange: room(mostInRanges, 'the ranges of the block are too long together'),
    takeBatch: room(mostInBatches, 'the batches of the block are too long together'),
  };
}

function room(most: number, reason: string): (count: number) => void {
  let left = most;
  return (count) => {
    if (count > left) throw new LogShapeError(reason);
    left -= count;
  };
}
