import { describe, expect, onTestFinished, vi } from 'vitest';
import { createLogger } from '../../src/base/log.ts';
import { createMetrics } from '../../src/base/metrics.ts';
import { createLagCheck } from '../../src/providers/indexer/index-lag.ts';
import { watchIndexes } from '../../src/providers/indexer/index-levels.ts';
import { deleteIndex } from '../../src/providers/indexer/store/rollback/reset-store.ts';
import {
  recordIndexError,
  recordStandstill,
} from '../../src/providers/indexer/store/write/index-state-store.ts';
import {
  insertSkip,
  listSkippedBlocks,
} from '../../src/providers/indexer/store/write/skipped-block-store.ts';
import type { TestDatabase } from '../support/database.ts';
import { test } from '../support/fixtures.ts';
import { blockAfter, type ReplayBlock } from '../support/node/replay.ts';
import { type RecordedBlock, readFixture } from '../support/recorded-chain.ts';
import { waitFor } from '../support/wait-for.ts';
import { registered, runIndex } from './index-fixture.ts';
import { replayedIndex } from './replayed-index.ts';

const first = readFixture<RecordedBlock>('cronos/68215');
const second = readFixture<RecordedBlock>('cronos/68216');
const third = blockAfter(second);
const broken: ReplayBlock = { ...second, block: { ...second.block, transactions: [{ hash: 'none' }] } };

async function start(database: TestDatabase, blocks: readonly ReplayBlock[] = [first, broken, third]) {
  const { chainId, node, index } = await replayedIndex(database, blocks, { tries: 1 });
  const logged: { level: string; msg: string }[] = [];
  const log = createLogger({
    level: 'info',
    destination: { write: (line) => void logged.push(JSON.parse(line)) },
  });
  const stop = runIndex(index.follower, { chainId, db: database.db, log });
  onTestFinished(stop);
  return {
    chainId,
    node,
    index,
    errors: () => logged.filter(({ level }) => level === 'error').map(({ msg }) => msg),
    isStuck: () =>
      vi.waitFor(async () => expect((await index.state())?.stuck).toBeDefined(), { timeout: 10_000 }),
    reaches: (head: bigint) =>
      vi.waitFor(async () => expect((await index.state())?.head?.number).toBe(head), { timeout: 10_000 }),
    stop,
  };
}

describe('a block that cannot be read for good', () => {
  test('is one that does not follow what the node has before it, too', async ({ database }) => {
    const parents = [second.block.hash];
    const strange = {
      ...third,
      block: {
        ...third.block,
        // For the node it is on the branch.
        get parentHash() {
          return parents.pop() ?? `0x${'1'.repeat(64)}`;
        },
      },
    };
    const after = blockAfter(third);
    const run = await start(database, [first, second, strange, after]);
    await run.isStuck();
    const reason = expect.stringMatching(/^Block 68217 of network \d+ does not follow .* network update/);
    expect(await run.index.state()).toMatchObject({
      head: { number: 68_216n },
      stuck: { block: undefined, reason },
    });
  });

  test('leaves the index stuck before it, and says so in state, readiness, metric and log, once', async ({
    database,
  }) => {
    const run = await start(database);
    await run.isStuck();
    expect(await run.index.state()).toMatchObject({
      head: { number: 68_215n },
      stuck: { block: 68_216n, reason: expect.stringContaining('Block 68216 cannot be indexed: ') },
    });
    const networks = registered(run.index.network);
    const check = createLagCheck({ db: database.db, networks, most: 1_000n });
    await expect(check()).rejects.toThrow(`tallystick index skip ${run.chainId} 68216`);
    const metrics = createMetrics(() => {});
    watchIndexes(metrics, { db: database.db, networks: registered(run.index.network) });
    expect((await metrics.scrape()).text).toContain(`tallystick_index_stuck{chain_id="${run.chainId}"} 1`);
    const asked = run.node.asked.length;
    await vi.waitFor(() => expect(run.node.asked.length).toBeGreaterThan(asked + 4), { timeout: 10_000 });
    expect(run.errors()).toEqual(['the index is stuck']);
  });

  test('is told of in whatever words the node says why', async ({ database }) => {
    const run = await start(database);
    const { db } = database;
    await run.isStuck();
    await run.stop();
    await recordStandstill(db, run.chainId, { block: 68_216n, reason: 'no \0 block' });
    await recordIndexError(db, run.chainId, 'no \0 block');
    expect(await run.index.state()).toMatchObject({
      stuck: { reason: 'no \ufffd block' },
      lastError: { message: 'no \ufffd block' },
    });
  });

  test('is left out when the operator skips it, and the index goes on', async ({ database }) => {
    const run = await start(database);
    await run.isStuck();
    expect(await insertSkip(database.db, run.chainId, 68_216n, 'broken')).toBe(true);
    expect(await insertSkip(database.db, run.chainId, 68_216n, 'broken')).toBe(false);
    await run.reaches(68_217n);
    await waitFor(async () => expect((await run.index.state())?.stuck).toBeUndefined());
    const skipped = await listSkippedBlocks(database.db, run.chainId, { from: 0n, to: 68_217n });
    expect(skipped).toMatchObject([{ number: 68_216n, reason: 'broken' }]);
    const metrics = createMetrics(() => {});
    watchIndexes(metrics, { db: database.db, networks: registered(run.index.network) });
    const { text } = await metrics.scrape();
    expect(text).toContain(`tallystick_index_skipped_blocks{chain_id="${run.chainId}"} 1`);
    expect(text).toContain(`tallystick_index_stuck{chain_id="${run.chainId}"} 0`);
  });

  test('is read once the node has it, and the index is no longer stuck', async ({ database }) => {
    const run = await start(database);
    await run.isStuck();
    run.node.add(second);
    await run.reaches(68_217n);
    await waitFor(async () => expect((await run.index.state())?.stuck).toBeUndefined());
    expect((await run.index.state())?.withoutReceipt).toBe(1n);
  });

  test('is one that the node does not give, though it is beyond it', async ({ database }) => {
    const run = await start(database, [first, second, third]);
    await run.reaches(68_217n);
    const beyond = blockAfter(blockAfter(third));
    run.node.add(beyond);
    run.node.setHead(beyond.block.hash);
    await run.isStuck();
    expect((await run.index.state())?.stuck).toMatchObject({
      block: 68_218n,
      reason: expect.stringContaining('though the node is at 68219'),
    });
  });
});

test('an index whose first blocks cannot be read is stuck like any other', async ({ database }) => {
  const inMilliseconds = (block: ReplayBlock): ReplayBlock => ({
    ...block,
    block: { ...block.block, timestamp: '0x19a16b1866c' } as ReplayBlock['block'],
  });
  const run = await start(database, [first, second, third].map(inMilliseconds));
  await run.isStuck();
  expect(await run.index.state()).toMatchObject({
    head: undefined,
    stuck: { block: BigInt(first.block.number), reason: expect.stringContaining('milliseconds') },
  });
});

test('an index that is deleted begins again, though its node has no new block', async ({ database }) => {
  const run = await start(database, [first, second, third]);
  await run.reaches(68_217n);
  const signal = new AbortController().signal;
  await deleteIndex(database.db, run.chainId, { signal, onProgress: () => {} });
  expect(await run.index.state()).toBeUndefined();
  await run.reaches(68_217n);
});

test('readiness names an index that fails although its node answers, and none whose node is out', async ({
  database,
}) => {
  const run = await start(database, [first, second, third]);
  const { db } = database;
  await run.reaches(68_217n);
  await run.stop();
  const check = createLagCheck({ db, networks: registered(run.index.network), most: 1_000n });
  await expect(check()).resolves.toBeUndefined();
  await recordIndexError(db, run.chainId, 'the table is full');
  await expect(check()).rejects.toThrow(`failing: ${run.chainId}: the table is full`);
  await db('index_state')
    .where('chain_id', run.chainId)
    .update({ updated_at: new Date(Date.now() - 60_000) });
  await expect(check()).resolves.toBeUndefined();
});

test('an outage is no standstill', async ({ database }) => {
  const run = await start(database, [first, second, third]);
  await run.reaches(68_217n);
  let refused = 0;
  run.node.setFlaws(() => {
    refused += 1;
    return 'drop';
  });
  await vi.waitFor(() => expect(refused).toBeGreaterThan(12), { timeout: 15_000 });
  const state = await run.index.state();
  expect([state?.stuck, state?.lastError]).toEqual([undefined, expect.anything()]);
});
