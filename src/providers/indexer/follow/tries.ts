import { createFewAtOnce } from '../../../base/few-at-once.ts';

/**
 * Runs work in its turn, and again after failures.
 * @param work gets whether this is its last try
 */
export type Tries = <T>(work: (isLastTry: boolean) => Promise<T>) => Promise<T>;

type TriesOptions = {
  /** Number of pieces of work at once. */
  readonly atOnce: number;
  /** Number of tries of a piece before its error is passed on. */
  readonly tries: number;
  /** Waits; rejects when the work is to stop. */
  readonly pause: (ms: number) => Promise<void>;
};

const firstPauseMs = 100;
const longestPauseMs = 5_000;

export function createTries({ atOnce, tries, pause }: TriesOptions): Tries {
  const few = createFewAtOnce(atOnce);
  return async (work) => {
    for (let failures = 1; ; failures += 1) {
      try {
        return await few(() => work(failures >= tries));
      } catch (error) {
        if (failures >= tries) throw error;
        await pause(Math.min(firstPauseMs * 2 ** (failures - 1), longestPauseMs));
      }
    }
  };
}
