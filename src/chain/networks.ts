import { createFlightCache } from '../base/cache/flight-cache.ts';
import { problem } from '../base/errors.ts';
import type { Database } from '../contract/transaction.ts';
import type { Notifications } from '../db/connection/notifications.ts';
import { listNetworks } from './network-store.ts';
import type { Network } from './rpc/client/network.ts';

export type NetworkRegistry = {
  /**
   * The network of a chain id as a caller wrote it. Only the decimal form without leading zeros is valid:
   * `01`, `0x1`, `1e0` or thirty digits find nothing.
   */
  find(chainId: string): Promise<Network | undefined>;
  /** All networks, sorted by chain id. */
  list(): Promise<readonly Network[]>;
  /** Calls the listener whenever networks may have changed. @returns a function that removes the listener */
  onChange(listener: () => void): () => void;
  close(): void;
};

type RegistryOptions = {
  readonly db: Database;
  readonly notifications: Notifications;
};

// Notifications report a change at once; this bounds how long one goes unnoticed when none arrives.
const cacheSeconds = 15;
// The table is small, one row for each network, so it is cached as a whole under one key.
const cacheKey = 'networks';

/**
 * The registered networks, cached in this process. The cache is cleared when the table changes.
 * While nothing is cached and the database is unavailable, `find` and `list` throw `service_unavailable`.
 */
export async function createNetworkRegistry(options: RegistryOptions): Promise<NetworkRegistry> {
  const cache = createFlightCache<ReadonlyMap<string, Network>>({ maxKeys: 1 });
  const watchers = new Set<() => void>();
  const change = () => {
    cache.clear();
    for (const watcher of watchers) watcher();
  };
  const unsubscribe = await options.notifications.subscribe({
    channel: 'tallystick_networks',
    onNotify: change,
    onGap: change,
  });

  const load = async () => {
    const networks = await listNetworks(options.db).catch((cause: unknown) => {
      throw problem('service_unavailable', {}, { cause });
    });
    const value = new Map(networks.map((network) => [network.chainId, network]));
    return { value, ttlSeconds: cacheSeconds };
  };
  const networks = () => cache.get(cacheKey, load);

  return {
    async find(chainId) {
      return (cache.peek(cacheKey) ?? (await networks())).get(chainId);
    },
    async list() {
      return [...(await networks()).values()];
    },
    onChange(watcher) {
      watchers.add(watcher);
      return () => watchers.delete(watcher);
    },
    close() {
      unsubscribe();
      cache.close();
    },
  };
}

/** Returns the problem of a body that names an unregistered network. */
export function networkNotFound(chainId: string) {
  const { message } = problem('network_not_found', { chainId });
  return problem(
    'network_not_found',
    { chainId },
    { errors: [{ in: 'body', pointer: '/chainId', message }] },
  );
}
