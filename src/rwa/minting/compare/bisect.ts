/** The search for the first block with a property that all later blocks have too. */
export type Bisection = {
  /** The newest block known to be without; undefined while none is known. */
  without: bigint | undefined;
  /** The oldest block known to be with. */
  with: bigint;
  /** How far to step back while no block without is known. */
  stride: bigint;
};

/** @param newest a block that has the property */
export const createBisection = (newest: bigint): Bisection => ({
  without: undefined,
  with: newest,
  stride: 1n,
});

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
