import { describe, expect, test } from 'vitest';
import type { Head } from '../../src/chain/minting/mint-node.ts';
import { followChain, type Lineage } from '../../src/rwa/mint-worker/context/lineage.ts';

/** A chain of so many blocks, whose blocks from a fork on are others than those of the chain without a fork. */
function chainOf(length: number, fork = { at: length, name: '' }) {
  const hashOf = (number: number) => `${number}${number >= fork.at ? fork.name : ''}`;
  const headAt = (number: number): Head => ({
    number: BigInt(number),
    hash: hashOf(number),
    parentHash: hashOf(number - 1),
    time: new Date(0),
    baseFee: null,
    gasLimit: 0n,
  });
  const asked: bigint[] = [];
  return {
    head: headAt(length - 1),
    asked,
    blockAt: async (number: bigint) => {
      asked.push(number);
      return number < BigInt(length) ? headAt(Number(number)) : null;
    },
  };
}

const follow = (known: Lineage | undefined, chain: ReturnType<typeof chainOf>, numbers: readonly bigint[]) =>
  followChain(known, chain.head, numbers, chain.blockAt);
const many = Array.from({ length: 50 }, (_, index) => BigInt(index + 10));

describe('the blocks that transactions depend on', () => {
  test('are asked for once; then a known block that is still there proves those below', async () => {
    const first = chainOf(100);
    const known = await follow(undefined, first, many);
    expect(many.every((number) => known.get(number) === `${number}`)).toBe(true);
    const next = chainOf(103);
    const followed = await follow(known, next, many);
    expect(many.every((number) => followed.get(number) === `${number}`)).toBe(true);
    expect(next.asked).toHaveLength(2);
    const child = chainOf(104);
    await follow(followed, child, many);
    expect(child.asked).toEqual([]);
    const same = chainOf(103);
    await follow(followed, same, many);
    expect(same.asked).toEqual([]);
  });

  test('are others after a reorganisation, above its fork only', async () => {
    const known = await follow(undefined, chainOf(100), many);
    const forked = chainOf(101, { at: 40, name: 'b' });
    const followed = await follow(known, forked, many);
    for (const number of many) expect(followed.get(number)).toBe(`${number}${number >= 40n ? 'b' : ''}`);
  });

  test('are unclear above the head of a node that lags', async () => {
    const known = await follow(undefined, chainOf(100), many);
    const followed = await follow(known, chainOf(30), many);
    expect(followed.get(29n)).toBe('29');
    expect(followed.get(30n)).toBeUndefined();
  });

  test('are unclear when the chain changes while they are asked for', async () => {
    const before = chainOf(100);
    const after = chainOf(100, { at: 20, name: 'b' });
    const followed = await followChain(undefined, before.head, [15n, 25n], after.blockAt);
    expect([followed.get(15n), followed.get(25n)]).toEqual([undefined, undefined]);
  });

  test('of two chains are not remembered together when the node changes its chain after the head', async () => {
    const chain = chainOf(100);
    const known = await follow(undefined, chain, many);
    const fork = { at: 40, name: 'b' };
    const forked = chainOf(101, fork);
    // The head is that of the fork, and then the node shows the chain of before.
    const mixed = await followChain(known, forked.head, many, chain.blockAt);
    expect(mixed.get(59n)).toBeUndefined();
    // The fork wins. Its blocks must not be taken for those of before, however long it grows.
    const followed = await follow(mixed, chainOf(110, fork), many);
    expect(followed.get(59n)).toBe('59b');
  });
});
