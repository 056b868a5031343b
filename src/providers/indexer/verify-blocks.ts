import { createHash } from 'node:crypto';
import type { Database } from '../../contract/transaction.ts';
import type { IndexedBlock } from './decode/domain.ts';
import { compareBlock, type Difference, findStrayRows } from './store/verify/verify-store.ts';
import { findIndexState } from './store/write/index-state-store.ts';

type BlockDifference = Difference & { readonly block: bigint };

export type VerifiedBlocks = {
  readonly blocks: number;
  readonly transactions: number;
  readonly differences: readonly BlockDifference[];
  /** Blocks whose traces the node does not have, or no longer has; they cannot be compared. */
  readonly untraced: readonly bigint[];
};

type VerifyOptions = {
  readonly db: Database;
  readonly chainId: string;
  readonly numbers: readonly bigint[];
  readonly readBlock: (number: bigint) => Promise<IndexedBlock | undefined>;
  /** Whether the index reads traces. */
  readonly traced: boolean;
  /** Whether to search whole tables for rows of wallets that the blocks do not touch. */
  readonly scan: boolean;
  readonly signal: AbortSignal;
  readonly onProgress: (done: number, total: number) => void;
  readonly pause: (ms: number) => Promise<unknown>;
};

// Number of blocks that are read in parallel; without --scan no more are in memory.
const atOnce = 8;
// A block that may still be replaced is compared again, once the index has followed.
const maxAttempts = 5;
const pauseMs = 1_000;

/** Reads blocks from the node and compares them with the rows. @throws the reason of the signal */
export async function verifyBlocks(options: VerifyOptions): Promise<VerifiedBlocks> {
  const { db, chainId, numbers, scan, signal, onProgress } = options;
  const found: (readonly BlockDifference[])[] = [];
  const untraced: bigint[] = [];
  const kept: IndexedBlock[] = [];
  let transactions = 0;
  for (let start = 0; start < numbers.length; start += atOnce) {
    signal.throwIfAborted();
    onProgress(start, numbers.length);
    const group = numbers.slice(start, start + atOnce);
    for (const { number, block, found: own } of await Promise.all(
      group.map((each) => verifyOne(options, each)),
    )) {
      if (block !== undefined && isUntraced(options, block)) untraced.push(number);
      else found.push(own);
      transactions += block?.transactions.length ?? 0;
      if (scan && block !== undefined) kept.push(block);
    }
  }
  const known = found.flat();
  const stray = scan ? withoutDoubles(await findStrayRows(db, chainId, kept), known) : [];
  onProgress(numbers.length, numbers.length);
  return { blocks: numbers.length, transactions, differences: [...known, ...stray], untraced };
}

function isUntraced({ traced }: VerifyOptions, block: IndexedBlock): boolean {
  return traced && !block.traced;
}

type One = {
  readonly number: bigint;
  readonly block: IndexedBlock | undefined;
  readonly found: BlockDifference[];
};

async function verifyOne(options: VerifyOptions, number: bigint, attempt = 1): Promise<One> {
  const { db, chainId, readBlock, pause, signal } = options;
  const block = await readBlock(number);
  if (block !== undefined && isUntraced(options, block)) return { number, block, found: [] };
  const found = block === undefined ? [] : await compareBlock(db, chainId, block);
  const agrees = block !== undefined && found.length === 0;
  const { finalized = -1n, head } = (await findIndexState(db, chainId)) ?? {};
  const replaceable = number > finalized;
  // The block was rolled back meanwhile, so there is nothing to compare.
  if (head === undefined || number > head.number) return { number, block, found: [] };
  if (agrees || !replaceable || attempt >= maxAttempts) {
    const missing = { table: 'index_blocks', kind: 'needless', row: 'the node has no such block' } as const;
    const all = block === undefined ? [missing] : found;
    return { number, block, found: all.map((difference) => ({ ...difference, block: number })) };
  }
  signal.throwIfAborted();
  await pause(pauseMs);
  return verifyOne(options, number, attempt + 1);
}

function withoutDoubles(
  more: readonly BlockDifference[],
  known: readonly BlockDifference[],
): BlockDifference[] {
  const name = ({ block, table, row }: BlockDifference) => `${block} ${table} ${row}`;
  const names = new Set(known.map(name));
  return more.filter((difference) => !names.has(name(difference)));
}

/** Returns 32 bytes in hex. The same seed and place give the same bytes. */
export const sampled = (seed: number, place: number): string =>
  createHash('sha256').update(`${seed} ${place}`).digest('hex');

/**
 * Returns distinct numbers of a range, in ascending order; the whole range when it has no more. The same seed returns
 * the same numbers.
 */
export function sampleBlocks(from: bigint, to: bigint, count: number, seed: number): bigint[] {
  const span = to - from + 1n;
  if (span <= 0n) return [];
  if (span <= BigInt(count)) return Array.from({ length: Number(span) }, (_, index) => from + BigInt(index));
  const picked = new Set<bigint>();
  for (let place = 0; picked.size < count; place += 1)
    picked.add(from + (BigInt(`0x${sampled(seed, place)}`) % span));
  return [...picked].sort((a, b) => (a < b ? -1 : 1));
}
