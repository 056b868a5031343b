import pLimit from 'p-limit';
import { type NetworkIndexes, startNetworkIndexes } from '../providers/indexer/index-networks.ts';
import { createNetworkIndex, indexSettings } from '../providers/indexer/network-index.ts';
import { createMetadataFetcher } from '../providers/indexer/tokens/metadata-fetcher.ts';
import { createMetadataHosts } from '../providers/indexer/tokens/metadata-hosts.ts';
import type { Parts } from './parts.ts';

// There is one, and whoever mirrors it mirrors all of its names.
const arweaveGateway = 'https://arweave.net';

/** Begins to index every network whose data provider is the index. */
export function startIndexes(parts: Parts): NetworkIndexes {
  const { config, db, networks, clients, outgoing, log, observers } = parts;
  const observer = observers.index;
  const fetcher = createMetadataFetcher({
    ipfsGateway: config.INDEX_IPFS_GATEWAY,
    arweaveGateway,
    hosts: createMetadataHosts({ outgoing, allowedHosts: new Set(config.INDEX_METADATA_HOSTS ?? []) }),
    timeoutMs: 10_000,
    maxBytes: 1_000_000,
  });
  // The other half of the pool is for leases, reads and callers.
  // With all connections, other statements would wait for one in vain.
  const inTurn = pLimit(Math.max(1, Math.floor(config.DATABASE_POOL_MAX / 2)));
  return startNetworkIndexes({
    networks,
    log,
    indexOf(network) {
      const settings = indexSettings(config, network);
      return createNetworkIndex({ network, settings, db, clients, log, fetcher, observer, inTurn });
    },
  });
}
