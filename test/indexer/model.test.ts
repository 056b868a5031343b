import fc from 'fast-check';
import { describe, expect } from 'vitest';
import { createLogger } from '../../src/log.ts';
import { createAdaptiveLimit } from '../../src/providers/indexer/follow/adaptive-limit.ts';
import { createFollower } from '../../src/providers/indexer/follow/follower.ts';
import { createIndexerProvider } from '../../src/providers/indexer/indexer-provider.ts';
import type { TestDatabase } from '../support/database.ts';
import { test } from '../support/fixtures.ts';
import { testNetwork } from '../support/networks.ts';
import { createModelChain, type ModelChain, type Move, wallets } from './model-chain.ts';

let lastChainId = 1_000;

const move: fc.Arbitrary<Move> = fc.record({
  kind: fc.constantFrom('call', 'erc721', 'erc721', 'erc1155', 'erc1155'),
  sender: fc.integer({ min: 0, max: 3 }),
  from: fc.integer({ min: -1, max: 3 }),
  to: fc.integer({ min: -1, max: 3 }),
  tokenId: fc.integer({ min: 1, max: 4 }),
  amount: fc.integer({ min: 0, max: 3 }),
});
const block = fc.array(move, { maxLength: 4 });

const action = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('mine' as const),
      blocks: fc.array(block, { minLength: 1, maxLength: 4 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('reorganise' as const),
      depth: fc.integer({ min: 1, max: 6 }),
      blocks: fc.array(block, { minLength: 1, maxLength: 7 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('begin' as const),
      wallet: fc.constantFrom(...wallets),
      order: fc.constantFrom('ASC' as const, 'DESC' as const),
      limit: fc.integer({ min: 1, max: 3 }),
      list: fc.constantFrom('history' as const, 'nfts' as const),
    }),
  },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('walk' as const) }) },
);

type Walk = {
  readonly wallet: string;
  readonly order: 'ASC' | 'DESC';
  readonly limit: number;
  readonly list: 'history' | 'nfts';
  position: string | undefined;
  /** Of a list of NFTs: the block of its first page. */
  asOf: bigint | undefined;
  ended: boolean;
};

/** The index of one model chain, and what is expected of each page of it. */
function createTrial(database: TestDatabase, chain: ModelChain) {
  lastChainId += 1;
  const network = testNetwork(['http://127.0.0.1:1'], { chainId: String(lastChainId) });
  const follower = createFollower({
    ...{
      chainId: network.chainId,
      startBlock: 0n,
      traceMethod: 'none',
      wrapped: new Set<string>(),
      maxBatch: 3,
    },
    db: database.db,
    blocks: chain.node,
    limit: createAdaptiveLimit({ most: 2, tries: 1, pause: async () => {} }),
    log: createLogger({ level: 'silent' }),
  });
  const reader = createIndexerProvider(database);

  const follow = async () => {
    while ((await follower.step()) !== 'idle');
  };

  const historyPage = async (walk: Walk) => {
    const { wallet: address, order, limit, position } = walk;
    const { records, next } = await reader.history({ network, address, order, limit, position, page: 0 });
    const places = chain.history(address).map((text) => text.split('.').map(Number) as [number, number]);
    const [block = 0, index = 0] = position?.split('.').map(Number) ?? [];
    const after = places.filter(([number, place]) => {
      const difference = number - block || place - index;
      return position === undefined || (order === 'ASC' ? difference > 0 : difference < 0);
    });
    const expected = (order === 'ASC' ? after : after.reverse()).map(
      ([number, place]) => `${number}.${place}`,
    );
    expect(records.map((record) => `${record.block_number}.${record.transaction_index}`)).toEqual(
      expected.slice(0, limit),
    );
    expect(next !== undefined).toBe(expected.length > limit);
    return next;
  };

  const nftPage = async (walk: Walk) => {
    const { wallet: address, order, limit, position } = walk;
    const { entries, next, completeTo } = await reader.nfts({
      network,
      address,
      order,
      limit,
      position,
      page: 0,
    });
    walk.asOf ??= completeTo?.blockNumber ?? 0n;
    const owned = chain.owned(address, walk.asOf);
    const found = entries.map((entry) => `${entry.token_address} ${entry.token_id} ${entry.amount}`);
    if (position === undefined) {
      expect(found).toEqual((order === 'ASC' ? owned : owned.reverse()).slice(0, limit));
    } else {
      expect(owned).toEqual(expect.arrayContaining(found));
    }
    return { next, found };
  };

  return { follow, historyPage, nftPage };
}

async function tryOut(database: TestDatabase, actions: readonly Action[]): Promise<void> {
  const chain = createModelChain();
  chain.mine([]);
  const trial = createTrial(database, chain);
  await trial.follow();
  const walks: Walk[] = [];
  for (const step of actions) {
    if (step.do === 'mine' || step.do === 'reorganise') {
      if (step.do === 'reorganise') chain.cut(step.depth);
      for (const moves of step.blocks) chain.mine(moves);
      await trial.follow();
    } else if (step.do === 'begin') {
      walks.push({ ...step, position: undefined, asOf: undefined, ended: false });
    } else {
      for (const walk of walks.filter(({ ended }) => !ended)) {
        walk.position =
          walk.list === 'history' ? await trial.historyPage(walk) : (await trial.nftPage(walk)).next;
        walk.ended = walk.position === undefined;
      }
    }
  }
}

type Action = typeof action extends fc.Arbitrary<infer T> ? T : never;

describe('any chain with any reorganisations', () => {
  test('gives on each page exactly the rows that follow in the present chain', async ({ database }) => {
    await fc.assert(
      fc.asyncProperty(fc.array(action, { minLength: 4, maxLength: 25 }), (actions) =>
        tryOut(database, actions),
      ),
      {
        numRuns: 60,
      },
    );
  }, 180_000);
});

describe('a list of NFTs', () => {
  const blocks = fc.array(fc.array(move, { minLength: 1, maxLength: 4 }), { minLength: 2, maxLength: 8 });

  test('is, however long the walk, what the wallet owned at its first page', async ({ database }) => {
    const property = fc.asyncProperty(blocks, blocks, fc.boolean(), async (before, during, ascending) => {
      const chain = createModelChain();
      chain.mine([]);
      const trial = createTrial(database, chain);
      for (const moves of before) chain.mine(moves);
      await trial.follow();
      for (const wallet of wallets) {
        const order = ascending ? 'ASC' : 'DESC';
        const walk: Walk = {
          wallet,
          order,
          limit: 1,
          list: 'nfts',
          position: undefined,
          asOf: undefined,
          ended: false,
        };
        const expected = chain.owned(wallet, BigInt(chain.length() - 1));
        const all: string[] = [];
        do {
          const { next, found } = await trial.nftPage(walk);
          all.push(...found);
          walk.position = next;
          chain.mine(during[all.length % during.length] ?? []);
          await trial.follow();
        } while (walk.position !== undefined);
        expect(all).toEqual(ascending ? expected : expected.reverse());
      }
    });
    await fc.assert(property, { numRuns: 25 });
  }, 180_000);
});
