import { createLogger } from '../../src/base/log.ts';
import type { DataProviderName, Network } from '../../src/chain/rpc/client/network.ts';
import { createRpcClients } from '../../src/chain/rpc/client/rpc-clients.ts';
import type { IndexedBlock } from '../../src/providers/indexer/decode/domain.ts';
import {
  createFollower,
  type Follower,
  type FollowerOptions,
  type Step,
} from '../../src/providers/indexer/follow/follower.ts';
import { createIndexRunner } from '../../src/providers/indexer/follow/index-runner.ts';
import { createNodeBlocks } from '../../src/providers/indexer/follow/node-blocks.ts';
import { createTries } from '../../src/providers/indexer/follow/tries.ts';
import { indexTables } from '../../src/providers/indexer/store/rollback/distribute-store.ts';
import {
  findIndexState,
  type TraceMethod,
} from '../../src/providers/indexer/store/write/index-state-store.ts';
import type { TestDatabase } from '../support/database.ts';
import { testNetwork } from '../support/networks.ts';
import { decodeBlock } from '../support/recorded-chain.ts';

type FixtureOptions = {
  readonly chainId?: string;
  readonly startBlock?: bigint;
  readonly traceMethod?: TraceMethod;
  readonly maxBatch?: number;
  readonly finalityDepth?: number;
  readonly wrapped?: readonly string[];
  readonly tries?: number;
  /** Time for one answer of a node. */
  readonly timeoutMs?: number;
  readonly belowPatienceMs?: number;
};

type FollowerParts = Partial<FollowerOptions> & Pick<FollowerOptions, 'chainId' | 'db' | 'blocks'>;

/** A follower of a chain from its first block on, without traces. */
export const createTestFollower = (parts: FollowerParts) =>
  createFollower({
    startBlock: 0n,
    traceMethod: 'none',
    wrapped: new Set(),
    maxBatch: 8,
    parallel: 4,
    tried: newTries(1),
    log: createLogger({ level: 'silent' }),
    ...parts,
  });

/** Tries without pauses. */
const newTries = (tries: number) => createTries({ tries, pause: async () => {} });

/** A follower of one node, or of several, over a database, driven step by step. */
export function createTestIndex(
  database: TestDatabase,
  urls: string | readonly string[],
  options: FixtureOptions = {},
) {
  const {
    chainId = '137',
    startBlock = 0n,
    traceMethod = 'none',
    maxBatch = 8,
    finalityDepth = 64,
    timeoutMs = 5_000,
  } = options;
  const log = createLogger({ level: 'silent' });
  const clients = createRpcClients({ timeoutMs, log });
  const hexChainId = `0x${BigInt(chainId).toString(16)}`;
  const network: Network = testNetwork([urls].flat(), { chainId, hexChainId });
  const { db } = database;
  const untraced: bigint[] = [];
  const blocks = createNodeBlocks({
    node: clients.for(network),
    finalityDepth,
    traceMethod,
    timeoutMs,
    onUntraced: (number) => untraced.push(number),
  });
  const wrapped = new Set(options.wrapped);
  const follower = createTestFollower({
    chainId,
    startBlock,
    traceMethod,
    wrapped,
    db,
    blocks,
    tried: newTries(options.tries ?? 3),
    maxBatch,
    belowPatienceMs: options.belowPatienceMs,
  });
  return {
    network,
    follower,
    untraced,
    clients,
    /** Works until there is nothing to do. @param steps what was done, also when it rejects */
    async follow(steps: Step[] = []): Promise<Step[]> {
      for (;;) {
        const step = await follower.step();
        if (step === 'idle') return steps;
        steps.push(step);
      }
    },
    state: () => findIndexState(db, chainId),
    /** A block of the node as the index would store it. @throws Error where the node has none */
    async readBlock(number: bigint): Promise<IndexedBlock> {
      const source = await blocks.blockAt(number);
      if (source === undefined) throw new Error(`no block ${number}`);
      return decodeBlock(source, wrapped);
    },
    close: () => clients.close(),
  };
}

type RunnerOptions = Parameters<typeof createIndexRunner>[0];
type RunnerParts = Partial<RunnerOptions> & Pick<RunnerOptions, 'chainId' | 'db'>;

/** Runs an index as a process does, with nothing to fill. @returns what ends it */
export function runIndex(follower: Follower, parts: RunnerParts): () => Promise<void> {
  const stopped = new AbortController();
  const runner = createIndexRunner({
    pollMs: 1,
    log: createLogger({ level: 'silent' }),
    createFollower: () => follower,
    filler: { fill: async () => false },
    ...parts,
  });
  const ended = runner.run(stopped.signal);
  return () => {
    stopped.abort();
    return ended;
  };
}

/** Deletes all that is indexed in a database. */
export async function emptyIndex({ db }: Pick<TestDatabase, 'db'>): Promise<void> {
  for (const table of indexTables) await db(table).delete();
}

/** The values by how often they come up, the most frequent first. */
export function mostOften(values: readonly string[]): string[] {
  const counts = new Map<string, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts].sort(([, a], [, b]) => b - a).map(([value]) => value);
}

/** A registry of one network. */
export const registered = (network: Network, dataProvider: DataProviderName = 'indexer') => ({
  list: async () => [{ ...network, dataProvider }],
});

/** Every row of the index of a network, to compare two of them; times of writing are left out. */
export async function dumpIndex(
  { db }: Pick<TestDatabase, 'db'>,
  chainId: string,
): Promise<Record<string, string[]>> {
  const dump: Record<string, string[]> = {};
  for (const [table, order] of Object.entries(dumped)) {
    const rows: object[] = await db(table)
      .where('chain_id', chainId)
      .whereRaw(sums[table] ?? 'true')
      .orderByRaw(order)
      .select();
    dump[table] = rows.map((row) => JSON.stringify(row, (_key, value) => hexOf(value)));
  }
  return dump;
}

// Bytes come as the JSON of a Buffer.
function hexOf(value: unknown): unknown {
  const isBytes = typeof value === 'object' && value !== null && 'type' in value && value.type === 'Buffer';
  return isBytes && 'data' in value
    ? Buffer.from(value.data as number[] /* of a Buffer */).toString('hex')
    : value;
}

// Sums that came to nothing again are as good as none.
const sums: Record<string, string> = {
  native_sums: '(moved, fees, unknown_fees, withdrawals, rewards) IS DISTINCT FROM (0, 0, 0, 0, 0)',
};

const dumped = {
  wallet_history: 'wallet, block_number, tx_index',
  history_facets: 'wallet, facet, kind, block_number, tx_index',
  nft_changes: 'wallet, contract, token_id, block_number, log_index, part',
  nft_holdings: 'wallet, contract, token_id',
  index_skipped_logs: 'block_number, log_index',
  block_credits: 'wallet, kind, block_number, place',
  native_sums: 'wallet',
  approval_changes: 'wallet, contract, kind, token_id, party, block_number, log_index',
  wallet_approvals: 'wallet, contract, kind, token_id, party',
};
