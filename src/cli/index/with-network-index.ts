import type { Network } from '../../chain/rpc/client/network.ts';
import {
  createNetworkIndex,
  indexSettings,
  type NetworkIndex,
} from '../../providers/indexer/network-index.ts';
import { findRegistered } from '../shared/find.ts';
import type { Operator } from '../shared/session.ts';

/**
 * Runs the work with the index of a registered network.
 * @throws UsageError when no network has this id
 */
export async function withNetworkIndex<T>(
  { db, config, clients, log }: Operator,
  chainId: string,
  work: (index: NetworkIndex, network: Network) => Promise<T>,
): Promise<T> {
  const network = await findRegistered({ db }, chainId);
  const index = createNetworkIndex({
    network,
    settings: indexSettings(config, network),
    db,
    clients,
    log,
  });
  return work(index, network);
}
