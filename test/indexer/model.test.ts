import fc from 'fast-check';
import { describe, expect } from 'vitest';
import { createLaggingLists } from '../../src/providers/indexer/lagging-lists.ts';
import { readHoldingPosition } from '../../src/providers/indexer/read/position.ts';
import type { TestDatabase } from '../support/database.ts';
import { test } from '../support/fixtures.ts';
import { testNetwork } from '../support/networks.ts';
import { createTestFollower } from './index-fixture.ts';
import { createModelChain, type ModelChain, type Move, type Owned, wallets } from './model-chain.ts';

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
  const { db } = database;
  const follower = createTestFollower({
    chainId: network.chainId,
    maxBatch: 3,
    db,
    blocks: chain.node,
    parallel: 2,
  });
  const reader = createLaggingLists({ db, mayLag: (read) => read(db) });

  const follow = async () => {
    while ((await follower.step()) !== 'idle');
  };

  const historyPage = async (walk: Walk) => {
    const { wallet: address, order, limit, position } = walk;
    const { records, next } = await reader.history({ network, address, order, limit, position });
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
    const asked = reader.nfts({ network, address, order, limit, position });
    if (walk.asOf !== undefined && walk.asOf >= BigInt(chain.length())) {
      // Nobody knows yet what the wallet will own at that block of the new branch.
      await expect(asked).rejects.toMatchObject({ code: 'service_unavailable' });
      return { next: position, waits: true };
    }
    const { entries, next, completeTo } = await asked;
    walk.asOf ??= completeTo?.blockNumber ?? 0n;
    const following = ownedAfter(chain.owned(address, walk.asOf), order, position);
    const found = entries.map((entry) => `${entry.token_address} ${entry.token_id} ${entry.amount}`);
    expect(found).toEqual(following.slice(0, limit));
    expect(next !== undefined).toBe(following.length > limit);
    return { next, waits: false };
  };

  return { follow, historyPage, nftPage };
}

/** What follows the place where a page ended. Of another branch, a log of the same number may be about another token. */
function ownedAfter(owned: readonly Owned[], order: 'ASC' | 'DESC', position: string | undefined): string[] {
  const place = position === undefined ? undefined : readHoldingPosition(position).after;
  const following = owned.filter(({ what, at: [block, log] }) => {
    if (place === undefined) return true;
    const { acquired, contract, tokenId } = place;
    const difference =
      Number(block - acquired.blockNumber) ||
      log - acquired.logIndex ||
      what.replace(/ \d+$/, '').localeCompare(`${contract} ${tokenId}`);
    return order === 'ASC' ? difference > 0 : difference < 0;
  });
  return (order === 'ASC' ? following : following.toReversed()).map(({ what }) => what);
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
  });
});

describe('a list of NFTs', () => {
  test('is as of the block of that number in the present chain, and waits while there is none', async ({
    database,
  }) => {
    const blocks = fc.array(fc.array(move, { minLength: 1, maxLength: 4 }), { minLength: 2, maxLength: 8 });
    // Of a depth of 0 nothing is replaced: blocks come while the wallet is walked.
    const replacement = fc.record({ depth: fc.integer({ min: 0, max: 4 }), mined: blocks });
    const asked = fc.record({
      order: fc.constantFrom('ASC' as const, 'DESC' as const),
      limit: fc.integer({ min: 1, max: 4 }),
    });
    let waits = 0;
    const property = fc.asyncProperty(
      blocks,
      fc.array(replacement, { minLength: 1, maxLength: 4 }),
      asked,
      async (before, replacements, page) => {
        const chain = createModelChain();
        for (const moves of [[], ...before]) chain.mine(moves);
        const trial = createTrial(database, chain);
        await trial.follow();
        for (const wallet of wallets) {
          const list = { list: 'nfts' as const, position: undefined, asOf: undefined, ended: false };
          waits += await walkWhileReplaced({ chain, trial }, { ...page, ...list, wallet }, replacements);
        }
      },
    );
    await fc.assert(property, { numRuns: 25 });
    expect(waits).toBeGreaterThan(0);
  });
});

type Replacement = { readonly depth: number; readonly mined: readonly (readonly Move[])[] };
type Followed = { readonly chain: ModelChain; readonly trial: ReturnType<typeof createTrial> };

/** Asks for a page in each branch, also while the new one is shorter. @returns how often a page had to wait */
async function walkWhileReplaced(
  { chain, trial }: Followed,
  walk: Walk,
  replacements: readonly Replacement[],
): Promise<number> {
  let refused = 0;
  const goOn = async () => {
    const { next, waits } = await trial.nftPage(walk);
    walk.position = next;
    refused += Number(waits);
  };
  await goOn();
  for (let page = 0; walk.position !== undefined; page += 1) {
    const { depth, mined } = replacements[page % replacements.length] ?? { depth: 0, mined: [] };
    chain.cut(depth);
    chain.mine(mined[0] ?? []);
    await trial.follow();
    await goOn();
    for (const moves of mined.slice(1)) chain.mine(moves);
    for (let rest = depth; rest > 0; rest -= 1) chain.mine([]);
    await trial.follow();
    if (walk.position !== undefined) await goOn();
  }
  return refused;
}
