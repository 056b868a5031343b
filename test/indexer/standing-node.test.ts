import { describe, expect, vi } from 'vitest';
import { createMetrics } from '../../src/base/metrics.ts';
import type { DataProviderName } from '../../src/chain/rpc/client/network.ts';
import { NodeBelowError } from '../../src/providers/indexer/follow/ancestor.ts';
import { createLagCheck } from '../../src/providers/indexer/index-lag.ts';
import { watchIndexes } from '../../src/providers/indexer/index-levels.ts';
import { closing } from '../support/closing.ts';
import type { TestDatabase } from '../support/database.ts';
import { test } from '../support/fixtures.ts';
import { blockAfter } from '../support/node/replay.ts';
import { type RecordedBlock, readFixture } from '../support/recorded-chain.ts';
import { waitFor } from '../support/wait-for.ts';
import { createTestIndex, registered, runIndex } from './index-fixture.ts';
import { replayedIndex } from './replayed-index.ts';

const first = readFixture<RecordedBlock>('cronos/68215');
const second = blockAfter(first);
const third = blockAfter(second);

/** An index that is complete to the second of three blocks, and what follows its node from there on. */
async function start(database: TestDatabase, patience: { readonly belowPatienceMs?: number } = {}) {
  const run = await replayedIndex(database, [first, second, third], { head: second, ...patience });
  const { chainId, node, index } = run;
  await index.follow();
  const metrics = createMetrics(() => {});
  let provider: DataProviderName = 'indexer';
  const networks = { list: () => registered(index.network, provider).list() };
  watchIndexes(metrics, { db: database.db, networks });
  return {
    ...run,
    leaveTo: (other: DataProviderName) => {
      provider = other;
    },
    /** A process that begins here, and so asks at once what an older one asks every 5 s. */
    open: () => closing(createTestIndex(database, node.url, { chainId, startBlock: 68_215n, ...patience })),
    secondsOf: async (gauge: 'new_block' | 'seen') => {
      const { text } = await metrics.scrape();
      const found = new RegExp(`^tallystick_index_${gauge}_seconds{chain_id="${chainId}"} (.*)$`, 'm').exec(
        text,
      );
      return Number(found?.[1]);
    },
    /** As if all that the index knows had been an hour ago. */
    age: async () => {
      const anHourAgo = new Date(Date.now() - 3_600_000);
      const times = { updated_at: anHourAgo, new_block_at: anHourAgo };
      await database.db('index_state').where('chain_id', chainId).update(times);
    },
  };
}

describe('an index whose node stands still', () => {
  test('tells for how long, though it hears of the node, and of the next block', async ({ database }) => {
    const run = await start(database);
    expect(await run.secondsOf('new_block')).toBeLessThan(60);
    await run.age();
    const index = run.open();
    expect(await index.follow()).toEqual([]);
    expect(await run.secondsOf('seen')).toBeLessThan(60);
    expect(await run.secondsOf('new_block')).toBeGreaterThan(3_500);
    run.node.setHead(third.block.hash);
    expect(await index.follow()).toEqual(['advanced']);
    expect(await run.secondsOf('new_block')).toBeLessThan(60);
  });

  test('of an earlier release is as one that has had a new block just now', async ({ database }) => {
    const run = await start(database);
    await database.db('index_state').where({ chain_id: run.chainId }).update({ new_block_at: null });
    expect(await run.secondsOf('new_block')).toBeNaN();
    const index = run.open();
    await index.follow();
    expect(await run.secondsOf('new_block')).toBeLessThan(60);
  });
});

describe('an index that is kept while its network has another provider', () => {
  test('is not told of, and is again once it is followed', async ({ database }) => {
    const run = await start(database);
    await run.age();
    run.leaveTo('moralis');
    expect(await run.secondsOf('seen')).toBeNaN();
    expect(await run.secondsOf('new_block')).toBeNaN();
    run.leaveTo('indexer');
    expect(await run.secondsOf('seen')).toBeGreaterThan(3_500);
  });
});

describe('an index whose node is below it', () => {
  test('waits for some time, in which no block of the node is new', async ({ database }) => {
    const run = await start(database);
    await run.age();
    run.node.setHead(first.block.hash);
    const index = run.open();
    expect(await index.follow()).toEqual([]);
    expect(await run.secondsOf('new_block')).toBeGreaterThan(3_500);
  });

  test('says so after that, holds no readiness back, and goes on once the node is there', async ({
    database,
  }) => {
    const run = await start(database, { belowPatienceMs: 0 });
    const { chainId, index } = run;
    run.node.setHead(first.block.hash);
    await expect(index.follow()).rejects.toThrow(NodeBelowError);
    const end = runIndex(index.follower, { chainId, db: database.db });
    const error = async () => (await index.state())?.lastError?.message;
    await waitFor(async () =>
      expect(await error()).toContain('at block 68215, below the index, which is at 68216'),
    );
    await createLagCheck({ db: database.db, networks: registered(index.network), most: 5n })();
    run.node.setHead(third.block.hash);
    await vi.waitFor(async () => expect((await index.state())?.head?.number).toBe(68_217n), {
      timeout: 10_000,
    });
    await waitFor(async () => expect(await error()).toBeUndefined());
    await end();
  });
});
