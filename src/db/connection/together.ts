import { codeOf } from './outage.ts';

/**
 * Begins statements of a transaction that do not need each other's results, and waits for all. The connection sends
 * each statement without waiting for the answer before. After an error the server rejects the statements that follow.
 * @throws the error of the statement that failed first, when all are answered
 */
export async function together<const Results extends readonly unknown[]>(
  begun: {
    readonly [Each in keyof Results]: Promise<Results[Each]>;
  },
): Promise<Results> {
  const settled = await Promise.allSettled(begun);
  const errors = settled.flatMap((each) => (each.status === 'rejected' ? [each.reason] : []));
  // Not every statement reaches the socket in the order in which it begins, nor is its answer known in that order.
  if (errors.length > 0) throw errors.find((error) => !isRefused(error)) ?? errors[0];
  const results = settled.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
  return results as unknown as Results; // a tuple as it began
}

/** Whether a statement was rejected because one before it had failed. */
const isRefused = (error: unknown) => error instanceof Error && codeOf(error) === '25P02';
