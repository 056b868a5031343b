import { describe, expect } from 'vitest';
import { test } from '../support/fixtures.ts';
import { blockAfter } from '../support/node/replay.ts';
import { type RecordedBlock, readFixture } from '../support/recorded-chain.ts';
import { replayedIndex } from './replayed-index.ts';

const first = readFixture<RecordedBlock>('cronos/68215');
const second = readFixture<RecordedBlock>('cronos/68216');
const third = blockAfter(second);

describe('an index at the head of its chain', () => {
  test('asks one question a look, and sees a replaced block by it', async ({ database }) => {
    const next = blockAfter(first);
    const replaced = { ...next, block: { ...next.block, hash: `0x${'ab'.repeat(32)}` } };
    const { node, index } = await replayedIndex(database, [first, next, replaced], { head: next });
    await index.follow();
    node.forget();

    for (let look = 0; look < 3; look += 1) expect(await index.follower.step()).toBe('idle');
    expect(node.methods()).toEqual(Array(3).fill('eth_getBlockByNumber'));

    node.setHead(replaced.block.hash);
    expect(await index.follow()).toEqual(['rolled_back', 'advanced']);
    expect((await index.state())?.head?.hash).toBe(replaced.block.hash);
  });

  test('goes on to the block before one that cannot be read', async ({ database }) => {
    const broken = { ...third, block: { ...third.block, timestamp: 'now' } };
    const { index } = await replayedIndex(database, [first, second, broken], { tries: 1 });
    await expect(index.follow()).rejects.toThrow('timestamp');
    expect((await index.state())?.head?.number).toBe(68_216n);
  });
});
