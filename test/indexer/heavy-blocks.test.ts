import { describe, expect } from 'vitest';
import type { BlockSource } from '../../src/providers/indexer/decode/decode-block.ts';
import { zeroAddress } from '../../src/providers/indexer/decode/domain.ts';
import type { RawLog } from '../../src/providers/indexer/decode/raw-block.ts';
import { topics } from '../../src/providers/indexer/decode/topics.ts';
import { createRangeReader } from '../../src/providers/indexer/follow/range-reader.ts';
import { test } from '../support/fixtures.ts';
import { createTestFollower, newTries } from './index-fixture.ts';
import { createModelChain, type Move } from './model-chain.ts';
import { alice, bob, token, topicOf, word } from './raw-answers.ts';

const chainId = '8120';
const wrapped = new Set<string>();
const one: Move = { kind: 'call', sender: 0, from: 0, to: 1, tokenId: 0, amount: 0 };

/** Mints of so many tokens each, by a single log (ERC-2309). */
const mints =
  (...counts: readonly number[]) =>
  (number: bigint): RawLog[] =>
    counts.map((tokens, index) => {
      const first = Number(number) * 100_000 + index * 10_000;
      const places = [topicOf(first), topicOf(zeroAddress), topicOf(bob)];
      const data = `0x${word(first + tokens - 1)}`;
      return { address: token, topics: [topics.consecutiveTransfer, ...places], data, index };
    });

/** A chain each of whose blocks has a single transaction, with these logs. */
function createHeavyChain(blocks: number, logsOf: (number: bigint) => RawLog[]) {
  const chain = createModelChain();
  for (let block = 0; block < blocks; block += 1) chain.mine([one]);
  const asked: bigint[] = [];
  const blockAt = async (number: bigint): Promise<BlockSource | undefined> => {
    asked.push(number);
    const source = await chain.node.blockAt(number);
    const receipts = source?.receipts.map((receipt) => ({ ...receipt, logs: logsOf(number) }));
    return source && receipts && { ...source, receipts };
  };
  return { asked, node: { ...chain.node, blockAt } };
}

describe('a range of blocks with many movements', () => {
  test('ends once it comes to 20,000 of them', async () => {
    const { asked, node } = createHeavyChain(40, mints(9_000));
    const read = createRangeReader({ blocks: node, tried: newTries(4), wrapped, chainId }, () => false);
    const { blocks, failure } = await read(0n, 39n);
    expect(failure).toBeUndefined();
    expect(blocks.map(({ header }) => header.number)).toEqual([0n, 1n]);
    // Four at once, and the next ones while there was room.
    expect(asked.length).toBeLessThan(8);
  });

  test('has its first block, however many that comes to', async () => {
    const place = { topics: [topics.transfer, topicOf(alice), topicOf(bob)], data: `0x${word(1)}`, index: 2 };
    const { node } = createHeavyChain(2, (number) => [
      ...mints(10_000, 10_000)(number),
      { address: token, ...place },
    ]);
    const read = createRangeReader({ blocks: node, tried: newTries(4), wrapped, chainId }, () => false);
    expect((await read(0n, 1n)).blocks).toHaveLength(1);
  });

  test('is followed by ranges that hold the rest, and as many blocks as have room', async ({ database }) => {
    const { node } = createHeavyChain(7, mints(6_000));
    const batches: number[] = [];
    const follower = createTestFollower({
      chainId,
      maxBatch: 100,
      db: database.db,
      blocks: node,
      events: { onAppend: (blocks) => batches.push(blocks.length), onRollBack() {}, onFailure() {} },
    });
    while ((await follower.step()) !== 'idle');
    expect(batches).toEqual([3, 3, 1]);
    const { rows } = await database.db.raw('SELECT count(*) FROM nft_changes WHERE chain_id = ?', [chainId]);
    expect(rows).toEqual([{ count: '42000' }]);
  });
});
