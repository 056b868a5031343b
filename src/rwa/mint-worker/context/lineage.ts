import type { Block, Head } from '../../../chain/minting/mint-node.ts';

/** Hashes of blocks of one chain, by their numbers. */
export type Lineage = Map<bigint, string>;

// Deeper reorganisations are followed too, with one question for each block that is needed.
const depthKept = 256n;

/**
 * Finds out the hashes of blocks of the chain that ends at `head`. Each block names its parent's hash, so what was
 * known of a chain is known of the one that continues it: the number of questions is that of the blocks since the
 * last time, or of the blocks that are asked about where those are fewer, however many transactions depend on them.
 * @param known what was known of the last head
 * @param numbers of the blocks in question
 * @param blockAt asks for a header; null when the chain is not that long
 * @returns their hashes; without those that are above the head, or that are unclear because the chain changed
 *   meanwhile
 * @throws when a question has no answer
 */
export async function followChain(
  known: Lineage | undefined,
  head: Head,
  numbers: readonly bigint[],
  blockAt: (number: bigint) => Promise<Block | null>,
): Promise<Lineage> {
  const needed = [...new Set(numbers)].filter((number) => number <= head.number);
  const lineage = await walkToKnown(known ?? new Map(), head, needed.length, blockAt);
  await askForRest(lineage, head, needed, blockAt);
  const isNeeded = new Set(needed);
  for (const number of lineage.keys()) {
    if (number < head.number - depthKept && !isNeeded.has(number)) lineage.delete(number);
  }
  return lineage;
}

/** Walks from the head to a block that is known, and takes over what is known below it. */
async function walkToKnown(
  known: Lineage,
  head: Head,
  mostQuestions: number,
  blockAt: (number: bigint) => Promise<Block | null>,
): Promise<Lineage> {
  const lineage: Lineage = new Map([[head.number, head.hash]]);
  let block: Block = head;
  for (let questions = 0; ; questions += 1) {
    const isJoined = known.get(block.number) === block.hash || block.number === 0n;
    if (isJoined) return takeOver(lineage, known, block.number);
    const parent = block.number - 1n;
    lineage.set(parent, block.parentHash);
    if (known.get(parent) === block.parentHash) return takeOver(lineage, known, parent);
    if (known.size === 0 || questions >= mostQuestions) return lineage;
    const found = await blockAt(parent);
    // The node shows blocks of two chains, so its answer is no proof.
    if (found?.hash !== block.parentHash) return new Map([[head.number, head.hash]]);
    block = found;
  }
}

function takeOver(lineage: Lineage, known: Lineage, upTo: bigint): Lineage {
  for (const [number, hash] of known) if (number <= upTo) lineage.set(number, hash);
  return lineage;
}

/** Asks for the blocks that the walk has not shown. They count only when the head is the same afterwards. */
async function askForRest(
  lineage: Lineage,
  head: Head,
  needed: readonly bigint[],
  blockAt: (number: bigint) => Promise<Block | null>,
): Promise<void> {
  const missing = needed.filter((number) => !lineage.has(number));
  if (missing.length === 0) return;
  const found = await Promise.all(missing.map((number) => blockAt(number)));
  const after = await blockAt(head.number);
  if (after?.hash !== head.hash) return;
  for (const block of found) if (block !== null) lineage.set(block.number, block.hash);
}
