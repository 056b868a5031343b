/** Runs work side by side, as much as the other end bears. */
export type AdaptiveLimit = {
  /** Runs the work when there is room, again after a failure, with growing pauses. */
  run<T>(work: () => Promise<T>): Promise<T>;
  /** How many may run at once now. */
  width(): number;
};

type LimitOptions = {
  readonly most: number;
  /** Tries of one piece of work before its error is passed on. */
  readonly tries: number;
  /** Waits; rejects when everything is to end. */
  readonly pause: (ms: number) => Promise<void>;
};

const firstPauseMs = 100;
const longestPauseMs = 5_000;

/** Each success widens the limit a little, each failure halves it: it settles below what hurts the node. */
export function createAdaptiveLimit({ most, tries, pause }: LimitOptions): AdaptiveLimit {
  const state = { width: most, running: 0 };
  const waiting: (() => void)[] = [];

  const enter = async () => {
    while (state.running >= Math.max(1, Math.floor(state.width))) {
      await new Promise<void>((resolve) => waiting.push(resolve));
    }
    state.running += 1;
  };
  const leave = () => {
    state.running -= 1;
    waiting.shift()?.();
    // After the width grew there may be room for one more.
    if (state.running < Math.floor(state.width)) waiting.shift()?.();
  };

  const attempt = async <T>(work: () => Promise<T>): Promise<{ value: T } | { error: unknown }> => {
    await enter();
    try {
      const value = await work();
      state.width = Math.min(most, state.width + 1 / state.width);
      return { value };
    } catch (error) {
      state.width = Math.max(1, state.width / 2);
      return { error };
    } finally {
      leave();
    }
  };

  return {
    async run(work) {
      for (let failures = 1; ; failures += 1) {
        const outcome = await attempt(work);
        if ('value' in outcome) return outcome.value;
        if (failures >= tries) throw outcome.error;
        await pause(Math.min(firstPauseMs * 2 ** (failures - 1), longestPauseMs));
      }
    },
    width: () => Math.max(1, Math.floor(state.width)),
  };
}
