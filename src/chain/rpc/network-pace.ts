/** How fast a network makes blocks, as seen by the clock of this process. */
export type NetworkPace = {
  /** Tells the newest block of a look. */
  saw(number: bigint): void;
  /** The median time between two blocks, in milliseconds; undefined before the first two looks that differ. */
  intervalMs(): number | undefined;
};

const samples = 31;

/** @param now a monotonic clock in milliseconds */
export function createNetworkPace(now: () => number): NetworkPace {
  const intervals: number[] = [];
  let newest: { readonly number: bigint; readonly at: number } | undefined;

  return {
    saw(number) {
      if (newest !== undefined && number <= newest.number) return;
      const at = now();
      if (newest !== undefined) intervals.push((at - newest.at) / Number(number - newest.number));
      if (intervals.length > samples) intervals.shift();
      newest = { number, at };
    },
    intervalMs() {
      return intervals.toSorted((one, other) => one - other)[Math.floor(intervals.length / 2)];
    },
  };
}
