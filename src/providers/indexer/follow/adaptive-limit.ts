/** Runs tasks in parallel, as many as the node can take. */
export type AdaptiveLimit = {
  /**
   * Runs a task when there is room, and tries it again after failures, with growing pauses.
   * @param work gets whether this is its last try
   */
  run<T>(work: (isLastTry: boolean) => Promise<T>): Promise<T>;
  /** The present limit of concurrent tasks. */
  width(): number;
};

type LimitOptions = {
  readonly most: number;
  /** Number of tries of a task before its error is passed on. */
  readonly tries: number;
  /** Waits; rejects when the work is to stop. */
  readonly pause: (ms: number) => Promise<void>;
};

const firstPauseMs = 100;
const longestPauseMs = 5_000;

/**
 * Each success raises the limit a little, and each failure halves it (AIMD). So it settles below the node's capacity.
 */
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
    // After the limit grew there may be room for one more task.
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
        const outcome = await attempt(() => work(failures >= tries));
        if ('value' in outcome) return outcome.value;
        if (failures >= tries) throw outcome.error;
        await pause(Math.min(firstPauseMs * 2 ** (failures - 1), longestPauseMs));
      }
    },
    width: () => Math.max(1, Math.floor(state.width)),
  };
}
