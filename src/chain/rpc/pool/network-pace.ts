/** How fast a network makes blocks, as seen by the clock of this process. */
export type NetworkPace = {
  /** Reports the newest block of a poll. */
  saw(number: bigint): void;
  /** The median time between two blocks, in milliseconds; undefined before the first two polls that differ. */
  intervalMs(): number | undefined;
};

const samples = 31;
// A larger step is not the pace of the network. A node that was far behind, or reported blocks that do not exist, is
// no longer the only node.
const leap = 10_000n;

/** @param now a monotonic clock in milliseconds */
export function createNetworkPace(now: () => number): NetworkPace {
  const intervals: number[] = [];
  let newest: { readonly number: bigint; readonly at: number } | undefined;

  return {
    saw(number) {
      const [at, before] = [now(), newest];
      const more = number - (before?.number ?? number);
      if (before !== undefined && more <= 0n && more >= -leap) return;
      if (before !== undefined && more > 0n && more <= leap) intervals.push((at - before.at) / Number(more));
      if (intervals.length > samples) intervals.shift();
      newest = { number, at };
    },
    intervalMs() {
      return intervals.toSorted((one, other) => one - other)[Math.floor(intervals.length / 2)];
    },
  };
}
