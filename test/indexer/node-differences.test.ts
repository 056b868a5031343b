import { describe, expect } from 'vitest';
import { ReorganisationTooDeepError } from '../../src/providers/indexer/follow/ancestor.ts';
import { createNodeBlocks } from '../../src/providers/indexer/follow/node-blocks.ts';
import { indexTables } from '../../src/providers/indexer/store/rollback/distribute-store.ts';
import type { TestDatabase } from '../support/database.ts';
import { test } from '../support/fixtures.ts';
import { without } from '../support/node/limits.ts';
import { pruned, type ReplayNode, readReorganisation, startReplayNode } from '../support/node/replay.ts';
import { type RecordedBlock, readFixture } from '../support/recorded-chain.ts';
import { createTestIndex, dumpIndex } from './index-fixture.ts';

const names = [17_686_111, 17_686_112, 17_686_113].map((number) => `ethereum/${number}`);
const recorded = names.map((name) => readFixture<RecordedBlock>(name));
const startBlock = 17_686_111n;
const newest = recorded.at(-1)?.block.hash ?? '';
let expected: Record<string, string[]>;

test.beforeAll(async ({ database }) => {
  const node = await startReplayNode('1', recorded);
  node.setHead(newest);
  const index = createTestIndex(database, node.url, { chainId: '1', startBlock, traceMethod: 'debug' });
  await index.follow();
  expected = await dumpIndex(database, '1');
  index.close();
  await node.close();
});

async function withNode(
  otherDatabase: TestDatabase,
  prepare: (node: ReplayNode) => void,
  run: (url: string, node: ReplayNode) => Promise<void>,
) {
  for (const table of indexTables) {
    await otherDatabase.db(table).delete();
  }
  const node = await startReplayNode('1', recorded);
  node.setHead(newest);
  prepare(node);
  await run(node.url, node);
  await node.close();
}

describe('a node', () => {
  test('with neither way to trace gives an index that says so, whichever is asked for', async ({
    otherDatabase,
  }) => {
    for (const traceMethod of ['debug', 'trace'] as const) {
      await withNode(
        otherDatabase,
        (node) => node.setFlaws(without('debug_traceBlockByHash', 'trace_block')),
        async (url) => {
          const index = createTestIndex(otherDatabase, url, { chainId: '1', startBlock, traceMethod });
          await index.follow();
          expect(await index.state()).toMatchObject({
            internalTransfers: traceMethod,
            untracedBlocks: 3n,
          });
          index.close();
        },
      );
    }
  });

  test.for(['debug', 'trace'] as const)(
    'that no longer has the traces of old blocks lets an index go on after a restart: %s',
    async (traceMethod, { otherDatabase }) => {
      await withNode(
        otherDatabase,
        (node) => node.setHead(recorded[1]?.block.hash ?? ''),
        async (url, node) => {
          const before = createTestIndex(otherDatabase, url, { chainId: '1', startBlock, traceMethod });
          await before.follow();
          before.close();
          node.setFlaws(...recorded.slice(0, 2).map(({ block }) => pruned(block)));
          node.setHead(newest);
          const after = createTestIndex(otherDatabase, url, { chainId: '1', startBlock, traceMethod });
          await after.follow();
          expect(await dumpIndex(otherDatabase, '1')).toEqual(expected);
          expect((await after.state())?.untracedBlocks).toBe(0n);
          after.close();
        },
      );
    },
  );

  test.for(['error', 'each', 'none'] as const)(
    'that lost the traces of a block before it was indexed leaves out what only they tell: told by %s',
    async (way, { otherDatabase }) => {
      await withNode(
        otherDatabase,
        (node) => node.setFlaws(...recorded.slice(1, 2).map(({ block }) => pruned(block, way))),
        async (url) => {
          const index = createTestIndex(otherDatabase, url, {
            chainId: '1',
            startBlock,
            traceMethod: 'debug',
          });
          await index.follow();
          expect((await index.state())?.untracedBlocks).toBe(1n);
          expect(index.untraced).toEqual([startBlock + 1n]);
          const others = ({ native_sums: _sums, ...dump }: Record<string, string[]>) =>
            Object.values(dump).map((rows) => rows.filter((row) => !row.includes(String(startBlock + 1n))));
          expect(others(await dumpIndex(otherDatabase, '1'))).toEqual(others(expected));
          index.close();
        },
      );
    },
  );

  test('that breaks connections now and then gives the same index', async ({ otherDatabase }) => {
    let count = 0;
    await withNode(
      otherDatabase,
      (node) =>
        node.setFlaws(() => {
          count += 1;
          return count % 5 === 0 ? 'drop' : undefined;
        }),
      async (url) => {
        const index = createTestIndex(otherDatabase, url, {
          chainId: '1',
          startBlock,
          traceMethod: 'debug',
          tries: 20,
        });
        for (let attempt = 0; attempt < 50; attempt += 1) {
          const done = await index.follow().then(
            () => true,
            () => false,
          );
          if (done) break;
        }
        expect(await dumpIndex(otherDatabase, '1')).toEqual(expected);
        index.close();
      },
    );
  });
});

/** An index of a node that has a recorded reorganisation; neither has begun. */
async function onReorganisation(database: TestDatabase, chainId: string, startBlock: bigint) {
  const { blocks } = readReorganisation('reorg-13522937-13522962');
  const node = await startReplayNode(chainId, blocks);
  const index = createTestIndex(database, node.url, { chainId, startBlock });
  return {
    node,
    index,
    /** The whole hash of a block. */
    branch: (hash: string) => blocks.find(({ block }) => block.hash.startsWith(hash))?.block.hash ?? '',
    async [Symbol.asyncDispose]() {
      index.close();
      await node.close();
    },
  };
}

describe('an index', () => {
  test('does not take back what is final, however the node changes its mind', async ({ otherDatabase }) => {
    await using run = await onReorganisation(otherDatabase, '137', 13_522_943n);
    const { node, index, branch } = run;
    node.setHead(branch('0x2b0437')); // 13522946 of the branch that was replaced from 13522944
    node.finalize(13_522_945);
    await index.follow();
    node.setHead(branch('0xfcd582'));
    await expect(index.follow()).rejects.toThrow(ReorganisationTooDeepError);
    expect((await index.state())?.head?.hash).toBe(branch('0x2b0437'));
  });

  test.for([
    ['139', 13_522_943n],
    ['140', 13_522_946n], // which is its head
  ] as const)(
    'says so too where none of its blocks is kept, as below what is final: %s from %s',
    async ([chainId, startBlock], { otherDatabase }) => {
      await using run = await onReorganisation(otherDatabase, chainId, startBlock);
      const { node, index, branch } = run;
      node.setHead(branch('0x2b0437'));
      await index.follow();
      await otherDatabase.db('index_blocks').where({ chain_id: chainId }).delete();
      node.setHead(branch('0xfcd582'));
      await expect(index.follow()).rejects.toThrow(ReorganisationTooDeepError);
      expect((await index.state())?.head?.hash).toBe(branch('0x2b0437'));
      node.setHead(branch('0x2b0437'));
      expect(await index.follow()).toEqual([]);
    },
  );

  test('takes nothing for final that the node does not have', async () => {
    const block = { ...recorded[0]?.block, number: '0x64', transactions: [] };
    const blocks = createNodeBlocks({
      node: { send: async () => block },
      finalityDepth: 64,
      traceMethod: 'none',
      timeoutMs: 5_000,
      onUntraced: () => {},
    });
    expect([await blocks.finalized(99n), await blocks.finalized(100n), await blocks.finalized(101n)]).toEqual(
      [99n, 100n, 100n],
    );
  });

  test('does not take a node that is behind for a reorganisation', async ({ otherDatabase }) => {
    await using run = await onReorganisation(otherDatabase, '138', 13_522_937n);
    const { node, index, branch } = run;
    node.setHead(branch('0x9c28da'));
    await index.follow();
    node.setHead(branch('0x8699')); // three blocks below
    expect(await index.follow()).toEqual([]);
    expect((await index.state())?.head?.number).toBe(13_522_943n);
  });
});
