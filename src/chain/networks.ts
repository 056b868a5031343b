import { createFlightCache } from '../cache.ts';
import { createListener } from '../db/listener.ts';
import { problem } from '../errors.ts';
import type { Logger } from '../log.ts';
import type { Network } from './network.ts';
import { createNetworkStore } from './network-store.ts';

export type NetworkRegistry = {
  /**
   * The network of a chain id as a caller wrote it. Only the decimal form without leading zeros matches:
   * `01`, `0x1`, `1e0` or thirty digits find nothing.
   */
  find(chainId: string): Promise<Network | undefined>;
  /** All networks in the order of their ids. */
  list(): Promise<readonly Network[]>;
  /** Calls the listener whenever networks may have changed. @returns a function that removes the listener */
  onChange(listener: () => void): () => void;
  close(): Promise<void>;
};

type RegistryOptions = {
  readonly db: Parameters<typeof createNetworkStore>[0]['db'];
  /** A direct connection for notifications: a transaction pooler would lose them. */
  readonly databaseUrl: string;
  readonly log: Logger;
};

// Notifications announce a change at once; this bounds the delay where none arrives.
const rememberSeconds = 15;
// The table is small, one row per network, so it is cached as a whole under one key.
const everything = 'networks';

/**
 * The registered networks, cached in this process and reloaded when the table changes.
 * @throws problem `service_unavailable`, from its methods, when the database is out and nothing is cached
 */
export async function createNetworkRegistry(options: RegistryOptions): Promise<NetworkRegistry> {
  const store = createNetworkStore({ db: options.db });
  const cache = createFlightCache<ReadonlyMap<string, Network>>({ maxKeys: 1 });
  const watchers = new Set<() => void>();
  const change = () => {
    cache.clear();
    for (const watcher of watchers) watcher();
  };
  const listener = await createListener({
    url: options.databaseUrl,
    channels: ['tallystick_networks'],
    log: options.log,
    onNotify: change,
    onGap: change,
  });

  const load = async () => {
    const networks = await store.list().catch((cause: unknown) => {
      throw problem('service_unavailable', {}, { cause });
    });
    const value = new Map(networks.map((network) => [network.chainId, network]));
    return { value, ttlSeconds: rememberSeconds };
  };
  const networks = () => cache.get(everything, load);

  return {
    async find(chainId) {
      return (await networks()).get(chainId);
    },
    async list() {
      return [...(await networks()).values()];
    },
    onChange(watcher) {
      watchers.add(watcher);
      return () => watchers.delete(watcher);
    },
    async close() {
      cache.close();
      await listener.close();
    },
  };
}
