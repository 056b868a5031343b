/** Ends a transaction that needs a reading of the chains. */
class UnreadError extends Error {}

/** Says what an attempt needs to be read; it throws the result. */
export type Lacks<R> = (read: () => Promise<R>) => Error;

// Each further round means that somebody has meanwhile changed what the reading is for.
const mostRounds = 4;

/**
 * Attempts a transaction, again after each reading of the chains that it lacks, and returns what it came to. So no transaction
 * is open while chains are read, and a repeated request is answered from its record without reading any chain.
 * @param tooOften makes the error for what changes with each reading
 */
export async function inRounds<R, T>(
  attempt: (reading: R | undefined, lacks: Lacks<R>) => Promise<T>,
  tooOften: () => Error,
): Promise<T> {
  let reading: R | undefined;
  for (let round = 1; round <= mostRounds; round += 1) {
    let read: (() => Promise<R>) | undefined;
    const lacks: Lacks<R> = (missing) => {
      read = missing;
      return new UnreadError('the chains were not read for what is there now');
    };
    try {
      return await attempt(reading, lacks);
    } catch (error) {
      if (!(error instanceof UnreadError) || read === undefined) throw error;
      reading = await read();
    }
  }
  throw tooOften();
}
