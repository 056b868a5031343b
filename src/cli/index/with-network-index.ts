import type { Network } from '../../chain/network.ts';
import { findNetwork } from '../../chain/network-store.ts';
import { createRpcClients } from '../../chain/rpc/rpc-clients.ts';
import { createLogger } from '../../log.ts';
import {
  createNetworkIndex,
  indexSettings,
  type NetworkIndex,
} from '../../providers/indexer/network-index.ts';
import { UsageError } from '../shared/failure.ts';
import type { Operator } from '../shared/session.ts';

/** Does something with what indexes a registered network, and closes its connections. @throws UsageError */
export async function withNetworkIndex<T>(
  { db, config }: Operator,
  chainId: string,
  work: (index: NetworkIndex, network: Network) => Promise<T>,
): Promise<T> {
  const network = await findNetwork(db, chainId);
  if (network === undefined) {
    throw new UsageError(`There is no network ${chainId}. List them with: tallystick network list`);
  }
  const log = createLogger({ level: 'silent' });
  const clients = createRpcClients({ timeoutMs: config.RPC_TIMEOUT_MS, log });
  const parts = { db, databaseUrl: config.DATABASE_URL, clients, log };
  try {
    return await work(
      createNetworkIndex({ network, settings: indexSettings(config, network), ...parts }),
      network,
    );
  } finally {
    clients.close();
  }
}
