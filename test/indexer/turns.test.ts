import { Wallet } from 'ethers';
import { describe, expect, test } from 'vitest';
import { readBlock, readReceipt } from '../../src/providers/indexer/decode/raw-block.ts';
import { createLoopTurns, type Steps } from '../../src/providers/indexer/decode/turns.ts';
import { createAdaptiveLimit } from '../../src/providers/indexer/follow/adaptive-limit.ts';
import { createRangeReader } from '../../src/providers/indexer/follow/range-reader.ts';
import { bob, rawAnswers, token } from './raw-answers.ts';

describe('work in turns', () => {
  /** A clock of 5 ms a step, and what happened. */
  function setUp() {
    const seen: string[] = [];
    let ms = 0;
    const inTurns = createLoopTurns({
      now: () => ms,
      others: async () => void seen.push('others'),
    });
    function* steps(name: string, count: number): Steps<string> {
      for (let step = 0; step < count; step += 1) {
        yield;
        ms += 5;
        seen.push(name);
      }
      return name;
    }
    return { seen, inTurns, steps };
  }

  test('lets others go on after 20 ms, and comes to its result', async () => {
    const { seen, inTurns, steps } = setUp();
    expect(await inTurns(steps('a', 9))).toBe('a');
    expect(seen).toEqual(['a', 'a', 'a', 'a', 'others', 'a', 'a', 'a', 'a', 'others', 'a']);
  });

  test('is done one piece after the other, many small ones in one turn', async () => {
    const { seen, inTurns, steps } = setUp();
    const names = ['a', 'b', 'c'];
    expect(await Promise.all(names.map((name) => inTurns(steps(name, 3))))).toEqual(names);
    expect(seen).toEqual(['a', 'a', 'a', 'b', 'others', 'b', 'b', 'c', 'c', 'others', 'c']);
  });

  test('goes on after a piece that fails', async () => {
    const { inTurns, steps } = setUp();
    function* broken(): Steps<string> {
      yield;
      throw new Error('broken');
    }
    const [failed, next] = await Promise.allSettled([inTurns(broken()), inTurns(steps('a', 1))]);
    expect([failed.status, next]).toMatchObject(['rejected', { status: 'fulfilled', value: 'a' }]);
  });
});

describe('a block of many delegations (EIP-7702)', () => {
  test('lets others go on while their signatures are read', async () => {
    const signer = new Wallet(`0x${'1'.repeat(64)}`);
    const { address, nonce, chainId, signature } = signer.authorizeSync({
      address: bob,
      nonce: 1,
      chainId: 1,
    });
    const { r, s, yParity } = signature;
    const one = { address, nonce: `0x${nonce}`, chainId: `0x${chainId}`, r, s, yParity: `0x${yParity}` };
    const authorizationList = Array.from({ length: 250 }, () => one);
    const { block, receipts } = rawAnswers({ transaction: { to: token, chainId: '0x1', authorizationList } });
    const source = { block: readBlock(block), receipts: receipts.map(readReceipt), traces: undefined };
    let turns = 0;
    const count = () => {
      turns += 1;
      counting = setImmediate(count);
    };
    let counting = setImmediate(count);
    const read = createRangeReader(
      {
        blocks: {
          headerAt: async () => source.block.header,
          async blockAt() {
            turns = 0;
            return source;
          },
        },
        limit: createAdaptiveLimit({ most: 1, tries: 1, pause: async () => {} }),
        wrapped: new Set<string>(),
        chainId: '1',
      },
      () => false,
    );
    const { blocks } = await read(16n, 16n);
    clearImmediate(counting);
    expect(blocks[0]?.transactions[0]?.delegations).toHaveLength(250);
    expect(turns).toBeGreaterThan(1);
  });
});
