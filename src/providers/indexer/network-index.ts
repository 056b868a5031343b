import { setTimeout as wait } from 'node:timers/promises';
import type { Network } from '../../chain/network.ts';
import type { RpcClients } from '../../chain/rpc/rpc-clients.ts';
import type { Database } from '../../contract/transaction.ts';
import type { Logger } from '../../log.ts';
import { createAdaptiveLimit } from './follow/adaptive-limit.ts';
import { createFollower, type Follower } from './follow/follower.ts';
import { createIndexRunner, type IndexRunner } from './follow/index-runner.ts';
import { createNodeBlocks } from './follow/node-blocks.ts';
import { createIndexStore, type TraceMethod } from './store/index-store.ts';
import { createTokenStore } from './store/token-store.ts';
import { createContractCalls } from './tokens/contract-calls.ts';
import type { MetadataFetcher } from './tokens/metadata-fetcher.ts';
import { createMetadataFiller } from './tokens/metadata-filler.ts';
import { createMetadataRunner } from './tokens/metadata-runner.ts';
import { createTokenFiller, type TokenFiller } from './tokens/token-filler.ts';

/** How a network is indexed. */
type IndexSettings = {
  /** The first block of the index; only used before the first block is indexed. */
  readonly startBlock: bigint;
  readonly traceMethod: TraceMethod;
  /** Blocks that are asked for at once, at most. */
  readonly parallel: number;
  readonly pollMs: number;
};

type NetworkIndexOptions = {
  readonly network: Network;
  readonly settings: IndexSettings;
  readonly db: Database;
  readonly databaseUrl: string;
  readonly clients: RpcClients;
  readonly log: Logger;
  /** Without one, the metadata of NFTs stay unknown. */
  readonly fetcher?: MetadataFetcher;
};

/** Everything that keeps the index of one network: a runner, and its parts for one who drives them himself. */
export type NetworkIndex = {
  readonly runner: IndexRunner;
  readonly filler: TokenFiller;
  createFollower(): Follower;
};

const maxBatch = 500;
const tries = 4;

export function createNetworkIndex(options: NetworkIndexOptions): NetworkIndex {
  const { network, settings, db, databaseUrl, clients, log, fetcher } = options;
  const { chainId, finalityDepth } = network;
  const { startBlock, traceMethod, parallel, pollMs } = settings;
  const node = clients.for(network);
  const wrapped = new Set(network.wrappedNatives.map((contract) => contract.toLowerCase()));
  const store = createIndexStore({ db });
  const calls = createContractCalls({ node });
  const tokens = createTokenStore({ db });
  const filler = createTokenFiller({ chainId, calls, tokens });
  const blocks = createNodeBlocks({
    node,
    finalityDepth,
    traceMethod,
    onUntraced: (number, err) => log.debug({ err, chainId, number }, 'block indexed without traces'),
  });
  const newFollower = () => {
    const limit = createAdaptiveLimit({ most: parallel, tries, pause: (ms) => wait(ms) });
    return createFollower({ chainId, startBlock, traceMethod, wrapped, store, blocks, limit, log, maxBatch });
  };
  const metadata =
    fetcher &&
    createMetadataRunner({
      chainId,
      log,
      pollMs,
      fill: createMetadataFiller({ chainId, tokens, fetcher, log }),
    });
  const runner = createIndexRunner({
    ...{ chainId, databaseUrl, filler, log, pollMs, createFollower: newFollower },
    onLeading: (leading) => (leading ? metadata?.start() : void metadata?.stop()),
  });
  return {
    filler,
    createFollower: newFollower,
    runner: { run: (signal) => runner.run(signal).finally(() => metadata?.stop()) },
  };
}
