import type { Network } from '../../src/chain/rpc/client/network.ts';
import { createIndexerProvider } from '../../src/providers/indexer/indexer-provider.ts';
import type { HistoryFilter } from '../../src/providers/shared/provider.ts';
import type { TestDatabase } from '../support/database.ts';

/** Reads the first hundred entries of lists from the index of a network, the oldest first. */
export function readerOf(database: TestDatabase, network: Network) {
  const provider = createIndexerProvider(database);
  const question = (address: string, filter: HistoryFilter) =>
    ({ network, address, order: 'ASC', limit: 100, position: undefined, filter }) as const;
  return {
    history: (address: string, filter: HistoryFilter = {}) => provider.history(question(address, filter)),
    nfts: (address: string, filter: Pick<HistoryFilter, 'toBlock'> = {}) =>
      provider.nfts(question(address, filter)),
  };
}
