import type { WatchedClient } from './silence-watch.ts';

export type ReadOnlyWatch = {
  add(client: WatchedClient): void;
  /** Whether its server has not refused a write for being read-only. */
  isWritable(client: WatchedClient): boolean;
};

/** SQLSTATE of a write in a session or on a server that only reads. */
const readOnlyState = '25006';

/**
 * Notices connections that lead to a server that has become a replica: they would work for reads for ever, while new
 * connections find the server that took over.
 */
export function createReadOnlyWatch(): ReadOnlyWatch {
  const refused = new WeakSet<WatchedClient>();
  return {
    add(client) {
      client.connection.on('errorMessage', ({ code }) => {
        if (code === readOnlyState) refused.add(client);
      });
    },
    isWritable: (client) => !refused.has(client),
  };
}
