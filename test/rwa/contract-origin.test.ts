import { describe, expect } from 'vitest';
import { findOriginIfShown } from '../../src/rwa/minting/compare/contract-origin.ts';
import { findContractOrigin } from '../../src/rwa/minting/compare/contract-origin-store.ts';
import { test } from '../support/fixtures.ts';
import { addNetwork } from './samples.ts';

const chainId = '31337';
const addressOf = (digit: string) => `0x${digit.repeat(40)}`;
const hashOf = (number: bigint) => `0x${number.toString(16).padStart(64, '0')}`;

/** A chain on which a contract has code from this block on. */
const chainFrom = (created: bigint, oldest = 0n) => ({
  asked: 0,
  async hasCode(_contract: string, at: bigint) {
    this.asked += 1;
    if (at < oldest) throw new Error('missing trie node');
    return at >= created;
  },
  async block(number: bigint) {
    return { number, hash: hashOf(number), parentHash: hashOf(number - 1n), time: new Date() };
  },
});

test.beforeAll(({ db }) => addNetwork(db));

describe('the block in which a contract was created', () => {
  test('is found by its code, stored, and not searched again', async ({ db }) => {
    const contract = addressOf('1');
    const node = chainFrom(1_234_567n);
    const search = { db, node, chainId, contract, newest: 80_000_000n };
    expect(await findOriginIfShown(search)).toBe(1_234_567n);
    expect(node.asked).toBeLessThan(80);
    expect(await findContractOrigin(db, chainId, contract)).toEqual({
      number: 1_234_567n,
      hash: hashOf(1_234_567n),
    });
    node.asked = 0;
    expect(await findOriginIfShown(search)).toBe(1_234_567n);
    expect(node.asked).toBe(1);
  });

  test('is searched anew on another chain that has the same id', async ({ db }) => {
    const contract = addressOf('2');
    await findOriginIfShown({ db, node: chainFrom(500n), chainId, contract, newest: 2_000n });
    const other = chainFrom(900n);
    const node = { ...other, block: async (number: bigint) => other.block(number + 1n) };
    expect(await findOriginIfShown({ db, node, chainId, contract, newest: 2_000n })).toBe(900n);
  });

  test('is none where there is no contract', async ({ db }) => {
    const search = { db, node: chainFrom(9_000n), chainId, contract: addressOf('3'), newest: 2_000n };
    expect(await findOriginIfShown(search)).toBe(null);
  });

  test('is unknown from a node without the state of old blocks', async ({ db }) => {
    const search = { db, node: chainFrom(0n, 1_000n), chainId, contract: addressOf('4'), newest: 2_000n };
    expect(await findOriginIfShown(search)).toBe(undefined);
    expect(await findContractOrigin(db, chainId, search.contract)).toBeUndefined();
  });
});
