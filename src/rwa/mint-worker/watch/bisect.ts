import type { Bisection } from './evidence-memory.ts';

/**
 * Goes on with a bisection to its end. Can be left at any question and resumed later.
 * @param hasIt whether the block has the property
 * @returns the first block with the property; 0n when all have it
 */
export async function bisect(
  bisection: Bisection,
  hasIt: (block: bigint) => Promise<boolean>,
): Promise<bigint> {
  while (bisection.with > 0n && bisection.without !== bisection.with - 1n) {
    const { without, with: first, stride } = bisection;
    const strided = first > stride ? first - stride : 0n;
    const block = without === undefined ? strided : (without + first) / 2n;
    if (await hasIt(block)) {
      bisection.with = block;
      bisection.stride = stride * 2n;
    } else {
      bisection.without = block;
    }
  }
  return bisection.with;
}
