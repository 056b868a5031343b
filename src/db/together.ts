import type { Tx } from '../contract/transaction.ts';
import { codeOf } from './outage.ts';

// Of the driver; its types leave out the socket.
type Driver = { readonly connection: { readonly stream: { cork(): void; uncork(): void } } };

/**
 * Sends statements of a transaction that do not need each other's results in one go: they leave in one packet, the
 * server works on them in the order in which they begin, and nobody waits in between. After an error it refuses those
 * that follow.
 * @param begin begins them
 * @throws the error of the one that failed first, when all are answered
 */
export async function together<const Results extends readonly unknown[]>(
  tx: Tx,
  begin: () => { readonly [Each in keyof Results]: Promise<Results[Each]> },
): Promise<Results> {
  const { connection }: Driver = await tx.client.acquireConnection(); // its own, always
  connection.stream.cork();
  // What begins now reaches the socket before the next tick.
  process.nextTick(() => connection.stream.uncork());
  const settled = await Promise.allSettled(begin());
  const errors = settled.flatMap((each) => (each.status === 'rejected' ? [each.reason] : []));
  // Not every statement reaches the socket in the order in which it begins, nor is its answer known in that order.
  if (errors.length > 0) throw errors.find((error) => !isRefused(error)) ?? errors[0];
  const results = settled.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
  return results as unknown as Results; // a tuple as it began
}

/** Whether a statement was refused because one before it had failed. */
const isRefused = (error: unknown) => error instanceof Error && codeOf(error) === '25P02';
