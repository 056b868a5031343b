import type { Tx } from '../contract/transaction.ts';

// Of the driver; its types leave out the socket.
type Driver = { readonly connection: { readonly stream: { cork(): void; uncork(): void } } };

/**
 * Sends statements of a transaction that do not need each other's results in one go: they leave in one packet, the
 * server works on them in the order in which they begin, and nobody waits in between. After an error it refuses those
 * that follow.
 * @param begin begins them
 * @throws the error of the first that fails, when all are answered
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
  // All may be answered at once, and then the first that is known to have failed is not the first that did.
  const results = settled.map((each) => {
    if (each.status === 'rejected') throw each.reason;
    return each.value;
  });
  return results as unknown as Results; // a tuple as it began
}
