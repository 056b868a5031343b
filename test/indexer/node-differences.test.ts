import { describe, expect } from 'vitest';
import { ReorganisationTooDeepError } from '../../src/providers/indexer/follow/ancestor.ts';
import { createNodeBlocks } from '../../src/providers/indexer/follow/node-blocks.ts';
import type { TestDatabase } from '../support/database.ts';
import { test } from '../support/fixtures.ts';
import { readReorganisation } from '../support/node/replay.ts';
import { type RecordedBlock, readFixture } from '../support/recorded-chain.ts';
import { replayedIndex } from './replayed-index.ts';

/** An index of a node that has a recorded reorganisation; neither has begun. */
async function onReorganisation(database: TestDatabase, startBlock: bigint) {
  const { blocks } = readReorganisation('reorg-13522937-13522962');
  return {
    ...(await replayedIndex(database, blocks, { startBlock })),
    /** The whole hash of a block. */
    branch: (hash: string) => blocks.find(({ block }) => block.hash.startsWith(hash))?.block.hash ?? '',
  };
}

describe('an index', () => {
  test('does not take back what is final, however the node changes its mind', async ({ otherDatabase }) => {
    const { node, index, branch } = await onReorganisation(otherDatabase, 13_522_943n);
    node.setHead(branch('0x2b0437')); // 13522946 of the branch that was replaced from 13522944
    node.finalize(13_522_945);
    await index.follow();
    node.setHead(branch('0xfcd582'));
    await expect(index.follow()).rejects.toThrow(ReorganisationTooDeepError);
    expect((await index.state())?.head?.hash).toBe(branch('0x2b0437'));
  });

  // The second is its head.
  test.for([13_522_943n, 13_522_946n])(
    'says so too where none of its blocks is kept, as below what is final: from %s',
    async (startBlock, { otherDatabase }) => {
      const { chainId, node, index, branch } = await onReorganisation(otherDatabase, startBlock);
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
    const { block: first } = readFixture<RecordedBlock>('ethereum/17686111');
    const block = { ...first, number: '0x64', transactions: [] };
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
    const { node, index, branch } = await onReorganisation(otherDatabase, 13_522_937n);
    node.setHead(branch('0x9c28da'));
    await index.follow();
    node.setHead(branch('0x8699')); // three blocks below
    expect(await index.follow()).toEqual([]);
    expect((await index.state())?.head?.number).toBe(13_522_943n);
  });
});
