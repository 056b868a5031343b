import { describe, expect, test } from 'vitest';
import { readNativeBalance } from '../../src/chain/erc20.ts';
import { test as withChain } from '../support/fixtures.ts';
import { testNetwork } from '../support/networks.ts';
import { of } from '../support/node/flaw.ts';
import { startNode } from '../support/node/node.ts';
import { says } from '../support/node/transport-flaws.ts';
import { askedOf, both, clients, first, second, useTwoNodes } from './two-nodes.ts';

useTwoNodes();

const account = `0x${'1'.repeat(40)}`;
const block = ['0x1', false];

describe('a result that is none of its method', () => {
  test.each([
    ['eth_blockNumber', [], null, '0x1'],
    ['eth_getBalance', [account, '0x1'], null, '0x1'],
    ['eth_getBalance', [account, '0x1'], '0x', '0x1'],
    ['eth_getBalance', [account, '0x1'], 7, '0x1'],
    ['eth_getBalance', [account, '0x1'], `0x1${'0'.repeat(64)}`, '0x1'],
    ['eth_getTransactionCount', [account, 'latest'], {}, '0x1'],
    ['eth_gasPrice', [], null, '0x1'],
    ['eth_maxPriorityFeePerGas', [], 'many', '0x1'],
    ['eth_estimateGas', [{ to: account }], [], '0x1'],
    ['eth_feeHistory', ['0x14', 'latest', [50]], null, { reward: [] }],
    ['eth_call', [{ to: account }, '0x1'], null, '0x'],
    ['eth_call', [{ to: account }, '0x1'], '0x1', '0x01'],
    ['eth_getCode', [account, '0x1'], null, '0x'],
    ['eth_getBlockByNumber', block, 'block', { hash: '0x01' }],
    ['eth_getBlockByNumber', block, [], null],
    ['eth_getBlockByHash', block, 1, null],
    ['eth_getTransactionReceipt', ['0x01'], '0x', null],
    ['eth_getTransactionByHash', ['0x01'], [], null],
    ['eth_getBlockReceipts', ['0x1'], {}, []],
    ['eth_getLogs', [{}], null, []],
    ['trace_block', ['0x1'], {}, []],
    ['debug_traceBlockByHash', ['0x01'], 'no', []],
  ])(
    'is had from the next node, and the one that gave it rests: %s %j %j',
    async (method, params, wrong, right) => {
      first.setFlaws(says({ result: wrong }));
      second.setFlaws(says({ result: right }));
      expect(await both().send(method, params)).toEqual(right);
      expect(await both().send(method, params)).toEqual(right);
      expect([askedOf(first).length, askedOf(second).length]).toEqual([1, 2]);
    },
  );

  test('is told as malformed when no other node is left', async () => {
    first.setFlaws(says({ result: null }));
    await expect(clients.for(testNetwork([first.url])).send('eth_gasPrice', [])).rejects.toMatchObject({
      name: 'NodesUnavailableError',
      attempts: [{ url: first.url, message: 'eth_gasPrice answers no number', reason: 'malformed' }],
    });
  });
});

describe('a result that some nodes write in their own way', () => {
  test.each([
    ['eth_call', [{ to: account }, '0x1'], '0x'],
    ['eth_getCode', [account, '0x1'], '0x0'],
    ['eth_getBalance', [account, '0x1'], `0x${'0'.repeat(63)}1`],
    ['eth_getBlockByNumber', block, null],
    ['eth_getBlockByNumber', ['finalized', false], ''],
    ['eth_getTransactionReceipt', ['0x01'], null],
    ['eth_getBlockReceipts', ['0x1'], null],
    ['trace_block', ['0x1'], null],
    ['eth_sendRawTransaction', ['0x01'], null],
  ])('stands: %s %j %j', async (method, params, result) => {
    first.setFlaws(says({ result }));
    expect(await both().send(method, params)).toEqual(result);
    expect(askedOf(second)).toEqual([]);
  });
});

describe('a native balance', () => {
  withChain('comes from the next node when the first says null', async ({ chain }) => {
    const wrong = await startNode(chain.rpcUrl);
    wrong.setFlaws(of('eth_getBalance', () => ({ result: null })));
    const node = clients.for(testNetwork([wrong.url, chain.rpcUrl]));
    expect(await readNativeBalance(node, account)).toEqual({ balance: 0n, blockNumber: 0n });
    await wrong.close();
  });
});
