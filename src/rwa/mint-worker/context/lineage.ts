import type { Block, Head } from '../../../chain/minting/mint-node.ts';

/** Hashes of blocks of one chain, by their numbers. */
export type Lineage = Map<bigint, string>;

/**
 * Finds out the hashes of blocks of the chain that ends at `head`. A block that is known, and still in the chain, proves all that
 * are known below it. So without a reorganisation two questions are enough at most, and one for each block in question that is
 * not known yet.
 * @param known what was known of the last head
 * @param numbers of the blocks in question
 * @param blockAt asks for a header; null when the chain is not that long
 * @returns the hashes of the head and of the blocks in question; without those that are above the head, or that are unclear
 *   because the chain changed meanwhile
 * @throws when a question has no answer
 */
export async function followChain(
  known: Lineage | undefined,
  head: Head,
  numbers: readonly bigint[],
  blockAt: (number: bigint) => Promise<Block | null>,
): Promise<Lineage> {
  const needed = new Set(numbers.filter((number) => number < head.number));
  const lineage: Lineage = new Map([[head.number, head.hash]]);
  let isAsked = false;
  const hashAt = async (number: bigint) => {
    if (number === head.number) return head.hash;
    if (number === head.number - 1n) return head.parentHash;
    isAsked = true;
    return (await blockAt(number))?.hash;
  };

  const newestFirst = [...(known ?? [])]
    .filter(([number]) => number <= head.number)
    .toSorted(([one], [other]) => Number(other - one));
  // Ever larger steps: of a chain that started again, few blocks are asked for.
  for (let place = 0; ; place = 2 * place + 1) {
    const [newest, ...below] = newestFirst.slice(place);
    if (newest === undefined) break;
    const [number, hash] = newest;
    if ((await hashAt(number)) !== hash) continue;
    for (const [each, itsHash] of [newest, ...below]) if (needed.has(each)) lineage.set(each, itsHash);
    break;
  }

  const missing = [...needed].filter((number) => !lineage.has(number));
  const hashes = await Promise.all(missing.map(hashAt));
  for (const [index, number] of missing.entries()) {
    const hash = hashes[index];
    if (hash !== undefined) lineage.set(number, hash);
  }
  if (!isAsked) return lineage;
  // Answers count only when the head is the same afterwards. Otherwise the head would prove blocks of another chain later on.
  const isSame = (await blockAt(head.number))?.hash === head.hash;
  return isSame ? lineage : new Map([[head.number, head.hash]]);
}
