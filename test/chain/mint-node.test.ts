import { JsonRpcApiProvider } from 'ethers';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { mintTopics } from '../../src/chain/minting/mint-contract.ts';
import { createMintNode, type MintNode } from '../../src/chain/minting/mint-node.ts';

const contract = '0x5FbDB2315678afecb367f032d93F642f64180aa3';
const word = (digits: string) => `0x${digits.padStart(64, '0')}`;
const [transfer, nobody] = mintTopics();

/** A node that answers everything with this. */
function nodeThatSays(answer: unknown): MintNode {
  class Provider extends JsonRpcApiProvider {
    async _send() {
      return [];
    }
    override async send() {
      return answer;
    }
  }
  return createMintNode(new Provider(1, { staticNetwork: true }));
}

const block = {
  number: '0x5',
  hash: word('5'),
  parentHash: word('4'),
  timestamp: '0x65000000',
  baseFeePerGas: null,
  gasLimit: '0x1c9c380',
};
const log = {
  address: contract,
  topics: [transfer, nobody, word('a1'), word('7')],
  transactionHash: word('ab'),
  blockNumber: '0x5',
  blockHash: word('5'),
  logIndex: '0x0',
};
const receipt = {
  transactionHash: word('ab'),
  blockNumber: '0x5',
  blockHash: word('5'),
  status: '0x1',
  gasUsed: '0x5208',
  effectiveGasPrice: '0x1',
  to: contract.toLowerCase(),
  logs: [log],
};
const tooLong = `0x1${'0'.repeat(64)}`;
const range = { from: 0n, to: 9n };

describe('an answer that nothing can be made of is the fault of the node that gave it', () => {
  test.each([
    ...[{ number: '0x' }, { number: `0x1${'0'.repeat(50)}` }, { number: 5 }, { number: undefined }],
    ...[{ hash: '0x' }, { parentHash: '0x5' }, { hash: null }],
    ...[
      { timestamp: '0xffffffffffffffff' },
      { timestamp: '0x' },
      { gasLimit: '0x' },
      { baseFeePerGas: tooLong },
    ],
  ])('block: %j', async (change) => {
    expect(await nodeThatSays(block).block(5n)).toMatchObject({ number: 5n, baseFee: null });
    await expect(nodeThatSays({ ...block, ...change }).block(5n)).rejects.toBeInstanceOf(z.ZodError);
  });

  test.each([
    ...[
      { gasUsed: '0x' },
      { blockNumber: '0x' },
      { blockNumber: tooLong },
      { status: '0x' },
      { status: undefined },
    ],
    ...[{ effectiveGasPrice: `0x${'f'.repeat(80)}` }, { blockHash: '0x' }, { to: '0x1' }, { to: 'nobody' }],
    { logs: [{ ...log, topics: [transfer, nobody, '0x', word('7')] }] },
    { logs: [{ ...log, topics: [transfer, nobody, word('a1'), '0x'] }] },
  ])('receipt: %j', async (change) => {
    const found = await nodeThatSays(receipt).receipt(word('ab'), contract);
    expect(found).toMatchObject({ succeeded: true, cost: 21_000n, to: contract });
    const asked = nodeThatSays({ ...receipt, ...change }).receipt(word('ab'), contract);
    await expect(asked).rejects.toBeInstanceOf(z.ZodError);
  });

  test('receipt: of another transaction', async () => {
    await expect(nodeThatSays(receipt).receipt(word('ac'), contract)).rejects.toMatchObject({
      name: 'NodeFault',
      reason: 'malformed',
    });
  });

  test.each([
    ...[{ blockNumber: '0x' }, { blockNumber: tooLong }, { transactionHash: '0x' }],
    { topics: [transfer, nobody, word('a1'), '0x'] },
  ])('events: %j', async (change) => {
    const tokenId = '7';
    expect(await nodeThatSays([log]).mintsIn(contract, range, [tokenId])).toHaveLength(1);
    const node = nodeThatSays([{ ...log, ...change }]);
    await expect(node.mintsIn(contract, range, [tokenId])).rejects.toBeInstanceOf(z.ZodError);
    await expect(node.mintsIn(contract, range)).rejects.toBeInstanceOf(z.ZodError);
  });

  test.each(['0x', tooLong, null, '0xfffffffffffffff'])('number of transactions: %j', async (count) => {
    expect(await nodeThatSays('0x7').transactionCount(contract, 'latest')).toBe(7n);
    await expect(nodeThatSays(count).transactionCount(contract, 'latest')).rejects.toBeInstanceOf(z.ZodError);
  });

  test.each(['0x', 'nobody', null])('sender: %j', async (from) => {
    const sent = { from: contract.toLowerCase(), nonce: '0x1', input: '0x' };
    expect(await nodeThatSays(sent).transaction(word('ab'))).toEqual({
      from: contract,
      nonce: 1n,
      data: '0x',
    });
    await expect(nodeThatSays({ ...sent, from }).transaction(word('ab'))).rejects.toBeInstanceOf(z.ZodError);
  });
});
