/**
 * Runs work, and again after failures.
 * @param work gets whether this is its last try
 */
export type Tries = <T>(work: (isLastTry: boolean) => Promise<T>) => Promise<T>;

type TriesOptions = {
  /** Number of tries before the error is passed on. */
  readonly tries: number;
  /** Waits; rejects when the work is to stop. */
  readonly pause: (ms: number) => Promise<unknown>;
};

const firstPauseMs = 100;
const longestPauseMs = 5_000;

export function createTries({ tries, pause }: TriesOptions): Tries {
  return async (work) => {
    for (let failures = 1; ; failures += 1) {
      try {
        return await work(failures >= tries);
      } catch (error) {
        if (failures >= tries) throw error;
        await pause(Math.min(firstPauseMs * 2 ** (failures - 1), longestPauseMs));
      }
    }
  };
}
