import { setImmediate } from 'node:timers/promises';
import { describe, expect } from 'vitest';
import { zeroAddress } from '../../src/chain/address.ts';
import type { BlockSource } from '../../src/providers/indexer/decode/decode-block.ts';
import type { RawLog } from '../../src/providers/indexer/decode/raw-block.ts';
import { topics } from '../../src/providers/indexer/decode/topics.ts';
import { createBlockWindow } from '../../src/providers/indexer/follow/block-window.ts';
import { test } from '../support/fixtures.ts';
import { createTestFollower } from './index-fixture.ts';
import { createModelChain, type Move } from './model-chain.ts';
import { bob, token, topicOf, word } from './raw-answers.ts';

const chainId = '8120';
const wrapped = new Set<string>();
const one: Move = { kind: 'call', sender: 0, from: 0, to: 1, tokenId: 0, amount: 0 };

/** A chain each of whose blocks mints so many tokens by a single log (ERC-2309). */
function createHeavyChain(blocks: number, tokens: number) {
  const chain = createModelChain();
  for (let block = 0; block < blocks; block += 1) chain.mine([one]);
  const logOf = (number: bigint): RawLog => {
    const first = Number(number) * tokens;
    const places = [topicOf(first), topicOf(zeroAddress), topicOf(bob)];
    const data = `0x${word(first + tokens - 1)}`;
    return { address: token, topics: [topics.consecutiveTransfer, ...places], data, index: 0 };
  };
  const blockAt = async (number: bigint): Promise<BlockSource | undefined> => {
    const source = await chain.node.blockAt(number);
    const receipts = source?.receipts.map((receipt) => ({ ...receipt, logs: [logOf(number)] }));
    return source && receipts && { ...source, receipts };
  };
  return { ...chain.node, blockAt };
}

describe('blocks with many movements', () => {
  test('are read ahead as far as a batch has room', async () => {
    const blocks = createHeavyChain(40, 9_000);
    let [asked, underWay] = [0, 0];
    const tried = async <T>(work: (isLastTry: boolean) => Promise<T>): Promise<T> => {
      asked += 1;
      underWay += 1;
      return work(true).finally(() => {
        underWay -= 1;
      });
    };
    const window = createBlockWindow({ blocks, tried, parallel: 4, wrapped, chainId }, () => false);
    const taken = await window.take({ from: 0n, end: 39n, finalized: -1n, most: 100 });
    expect(taken.blocks.map(({ header }) => header.number)).toEqual([0n, 1n, 2n]);
    while (underWay > 0) await setImmediate();
    // Three that were taken, two that weigh less than a batch, and four at once.
    expect(asked).toBeLessThanOrEqual(9);
  });

  test('are written in batches of as many as have room', async ({ database }) => {
    const batches: number[] = [];
    const follower = createTestFollower({
      chainId,
      maxBatch: 100,
      db: database.db,
      blocks: createHeavyChain(7, 6_000),
      events: { onAppend: (blocks) => batches.push(blocks.length), onRollBack() {}, onFailure() {} },
    });
    while ((await follower.step()) !== 'idle');
    expect(batches).toEqual([4, 3]);
    const { rows } = await database.db.raw('SELECT count(*) FROM nft_changes WHERE chain_id = ?', [chainId]);
    expect(rows).toEqual([{ count: '42000' }]);
  });
});
