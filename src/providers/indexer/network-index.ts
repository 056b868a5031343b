import { setTimeout as wait } from 'node:timers/promises';
import pLimit, { type LimitFunction } from 'p-limit';
import type { Logger } from '../../base/log.ts';
import type { Network } from '../../chain/rpc/client/network.ts';
import type { RpcClients } from '../../chain/rpc/client/rpc-clients.ts';
import type { Config } from '../../config/config.ts';
import type { Database } from '../../contract/transaction.ts';
import { creditRulesOf } from './decode/credit-rules.ts';
import { decodeSteps } from './decode/decode-block.ts';
import type { IndexedBlock } from './decode/domain.ts';
import { inTurns } from './decode/turns.ts';
import { type BackgroundRunner, createBackgroundRunner } from './follow/background-runner.ts';
import { createFollower, type Follower } from './follow/follower.ts';
import { emptyBlock, isWithoutBlock } from './follow/height-gaps.ts';
import { createIndexRunner, type IndexRunner, restMs } from './follow/index-runner.ts';
import { createNodeBlocks } from './follow/node-blocks.ts';
import { createTries } from './follow/tries.ts';
import type { IndexObserver } from './index-observer.ts';
import { sortRows } from './store/rows/facet-store.ts';
import { findIndexState, type TraceMethod } from './store/write/index-state-store.ts';
import { createContractCalls } from './tokens/contract-calls.ts';
import { inEachPart } from './tokens/each-part.ts';
import type { MetadataFetcher } from './tokens/metadata-fetcher.ts';
import { createMetadataFiller } from './tokens/metadata-filler.ts';
import { createTokenFiller, type TokenFiller } from './tokens/token-filler.ts';
import { type AccountStates, createAccountStates } from './verification/account-states.ts';
import { createStartFiller } from './verification/start-filler.ts';
import { createTransferChecker } from './verification/transfer-checker.ts';

/** How a network is indexed. */
export type IndexSettings = {
  /** The first block of the index; only used before the first block is indexed. */
  readonly startBlock: bigint;
  readonly traceMethod: TraceMethod;
  /** Greatest number of blocks that are read at once. */
  readonly parallel: number;
  readonly pollMs: number;
  /** Time for one answer of a node. */
  readonly timeoutMs: number;
};

/** Derives the index settings from the settings of the service and of the network. */
export function indexSettings(config: Config, { indexFrom, indexTraces }: Network): IndexSettings {
  const { INDEX_PARALLEL: parallel, INDEX_POLL_MS: pollMs, RPC_TIMEOUT_MS: timeoutMs } = config;
  return { startBlock: BigInt(indexFrom), traceMethod: indexTraces, parallel, pollMs, timeoutMs };
}

type NetworkIndexOptions = {
  readonly network: Network;
  readonly settings: IndexSettings;
  readonly db: Database;
  readonly clients: RpcClients;
  readonly log: Logger;
  /** Without a fetcher, the metadata of NFTs stay unknown. */
  readonly fetcher?: MetadataFetcher;
  readonly observer?: IndexObserver;
  /** Of all networks that share the pool. */
  readonly inTurn?: LimitFunction | undefined;
};

/** The index of one network: a runner, and its parts for callers that run them step by step. */
export type NetworkIndex = {
  readonly runner: IndexRunner;
  readonly filler: TokenFiller;
  /** The node's newest block. */
  nodeHead(): Promise<bigint>;
  /**
   * Returns a block as the index would store it, read from the node. It is empty for a height at which the chain has
   * no block, and undefined for a number that the node does not have.
   */
  readBlock(number: bigint): Promise<IndexedBlock | undefined>;
  /** @param upTo the last block to index; without it the follower has no end */
  createFollower(upTo?: bigint): Follower;
};

// Full blocks may follow empty blocks, and their size is known only after the read.
const maxBatch = 100;
const noHash = `0x${'0'.repeat(64)}`;
const tries = 4;

export function createNetworkIndex(options: NetworkIndexOptions): NetworkIndex {
  const { network, settings, db, clients, log, observer } = options;
  const { chainId, finalityDepth } = network;
  const { startBlock, traceMethod, parallel, pollMs, timeoutMs } = settings;
  const node = clients.for(network);
  const wrapped = new Set(network.wrappedNatives.map((contract) => contract.toLowerCase()));
  const rules = creditRulesOf(chainId);
  const calls = createContractCalls({ node });
  const tokens = createTokenFiller({ chainId, calls, db });
  const states = createAccountStates(node);
  const starts = createStartFiller({ chainId, db, log, states });
  const filler: TokenFiller = {
    fill: () => inEachPart(tokens.fill, () => sortRows(db, chainId), starts),
  };
  const blocks = createNodeBlocks({
    node,
    others: clients.others(network),
    finalityDepth,
    traceMethod,
    timeoutMs,
    uncles: rules.rewards !== undefined,
    nativeAsset: network.nativeAsset?.toLowerCase() ?? null,
    entryPoints: network.entryPoints.map((each) => each.toLowerCase()),
    onUntraced: (number, err) => log.debug({ err, chainId, number }, 'block indexed without traces'),
  });
  const tried = createTries({ tries, pause: (ms) => wait(ms) });
  const newFollower = (upTo?: bigint) =>
    createFollower({
      chainId,
      startBlock,
      traceMethod,
      wrapped,
      db,
      blocks,
      tried,
      parallel,
      log,
      events: observer?.(chainId),
      inTurn: options.inTurn,
      maxBatch,
      upTo,
    });
  const few = pLimit(parallel);
  const beside = [createChecks(options, states), ...createMetadata(options)];
  const runner = createIndexRunner({
    chainId,
    db,
    createFollower: () => newFollower(),
    filler,
    log,
    pollMs,
    onFilled() {
      for (const each of beside) each.wake();
    },
    onLeading(leading) {
      for (const each of beside) void (leading ? each.start() : each.stop());
    },
  });
  return {
    filler,
    nodeHead: () => blocks.head(),
    readBlock: (number) =>
      few(() =>
        tried(async (isLastTry) => {
          const none = async () =>
            (await isWithoutBlock(blocks, number))
              ? emptyBlock({ number, hash: noHash, parentHash: noHash, timestamp: 0n })
              : undefined;
          const source = await blocks.blockAt(number, isLastTry).catch(async (error: unknown) => {
            if (await isWithoutBlock(blocks, number)) return undefined;
            throw error;
          });
          return source === undefined ? none() : inTurns(decodeSteps(source, wrapped, rules));
        }),
      ),
    createFollower: newFollower,
    runner: {
      run: (signal) => runner.run(signal).finally(() => Promise.all(beside.map((each) => each.stop()))),
    },
  };
}

/** Checks suspicious transfers while this process indexes the network, near the head, where nodes have the states. */
function createChecks(options: NetworkIndexOptions, states: AccountStates): BackgroundRunner {
  const { network, settings, db, log } = options;
  const { chainId } = network;
  const check = createTransferChecker({ chainId, db, log, states });
  return createBackgroundRunner({
    chainId,
    log,
    restMs: ownRestMs(settings),
    failure: 'transfers are not checked for now',
    async fill() {
      const { head, nodeHead } = (await findIndexState(db, chainId)) ?? {};
      if (head === undefined || nodeHead === undefined || nodeHead - head.number > maxBatch) return false;
      return check();
    },
  });
}

/** Fetches the metadata of the network's NFTs while this process indexes it; nothing without a fetcher. */
function createMetadata(options: NetworkIndexOptions): BackgroundRunner[] {
  const { network, settings, db, log, fetcher } = options;
  if (fetcher === undefined) return [];
  const { chainId } = network;
  const fill = createMetadataFiller({ chainId, db, fetcher, log });
  const failure = 'metadata are not fetched for now';
  return [createBackgroundRunner({ chainId, fill, restMs: ownRestMs(settings), log, failure })];
}

/**
 * At the head of the chain each pause of the index wakes the work next to it. So this is for an index that is behind.
 */
const ownRestMs = ({ pollMs }: IndexSettings): number => 2 * restMs(pollMs);
