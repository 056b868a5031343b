import { describe, expect, test, vi } from 'vitest';
import { testNetwork } from '../support/networks.ts';
import { says } from '../support/node/transport-flaws.ts';
import { askedOf, both, clients, first, second, useTwoNodes } from './two-nodes.ts';

useTwoNodes();

const account = `0x${'1'.repeat(40)}`;
const block = ['0x1', false];

describe('an answer that is larger than any of its method', () => {
  test.each([
    ['eth_getBalance', [account, '0x1'], '0x1', 100_000],
    ['eth_blockNumber', [], '0x1', 100_000],
    ['eth_getCode', [account, '0x1'], '0x01', 9_000_000],
    ['eth_getBlockByNumber', block, { hash: '0x01' }, 9_000_000],
  ])('is not read to its end, and had from the next node: %s', async (method, params, result, size) => {
    const parse = vi.spyOn(JSON, 'parse');
    first.setFlaws(says({ result: `0x${'1'.repeat(size)}` }));
    second.setFlaws(says({ result }));
    expect(await both().send(method, params)).toEqual(result);
    const lengths = parse.mock.calls.map(([text]) => text.length);
    parse.mockRestore();
    expect(Math.max(...lengths)).toBeLessThan(1_000);
  });

  test('is none where blocks are large: headers, code, and a transaction that fills its block', async () => {
    const hashes = Array.from({ length: 50_000 }, (_, place) => `0x${place.toString(16).padStart(64, '0')}`);
    const extraData = `0x${'ab'.repeat(500_000)}`;
    const code = `0x${'ab'.repeat(2 ** 21)}`;
    first.setFlaws(says({ result: { hash: '0x01', transactions: hashes, extraData } }));
    expect(await both().send('eth_getBlockByNumber', block)).toMatchObject({ transactions: hashes });
    first.setFlaws(says({ result: code }));
    expect(await both().send('eth_getCode', [account, '0x1'])).toHaveLength(code.length);
    first.setFlaws(says({ result: { input: `0x${'ab'.repeat(8_000_000)}` } }));
    expect(await both().send('eth_getTransactionByHash', ['0x01'])).toHaveProperty('input');
    first.setFlaws(
      says({ error: { code: 3, message: 'execution reverted', data: `0x${'ab'.repeat(500_000)}` } }),
    );
    await expect(both().send('eth_estimateGas', [{ to: account }])).rejects.toThrow('reverted');
    expect(askedOf(second)).toEqual([]);
  });
});

describe('an answer that is longer than any but the refusal of a contract', () => {
  test.each([
    ['eth_estimateGas', [{ to: account }], 'CALL_EXCEPTION'],
    ['eth_sendRawTransaction', ['0x01'], 'UNKNOWN_ERROR'],
  ])('is read as one, not parsed, and takes no node out of use: %s', async (method, params, code) => {
    const parse = vi.spyOn(JSON, 'parse');
    first.setFlaws(
      says({ error: { code: 3, message: 'execution reverted', data: `0x${'ab'.repeat(50_000)}` } }),
    );
    await expect(both().send(method, params)).rejects.toMatchObject({
      code,
      message: expect.stringMatching(/what it says is over 65536 bytes/),
    });
    await expect(both().send(method, params)).rejects.toThrow(/over 65536 bytes/);
    const lengths = parse.mock.calls.map(([text]) => text.length);
    parse.mockRestore();
    expect(Math.max(...lengths)).toBeLessThan(1_000);
    expect([askedOf(first).length, askedOf(second).length]).toEqual([2, 0]);
  });
});

describe('a receipt', () => {
  const receipt = { result: { logs: [`0x${'ab'.repeat(13_000_000)}`] } };

  test('of a transaction that we have signed is no larger than its gas can make it', async () => {
    first.setFlaws(says({ result: { number: '0x1', hash: '0x01', timestamp: '0x1' } }));
    const { provider } = await clients
      .pool(testNetwork([first.url]))
      .pin({ confirmations: 1, finalityDepth: 64 });
    first.setFlaws(says(receipt));
    await expect(provider.send('eth_getTransactionReceipt', ['0x01'])).rejects.toThrow(/over 25165824 bytes/);
  });

  test('of any other may fill a block', async () => {
    first.setFlaws(says(receipt));
    expect(await both().send('eth_getTransactionReceipt', ['0x01'])).toHaveProperty('logs');
  });
});

describe('receipts and traces of a block that are larger than any', () => {
  test('take no node out of use', async () => {
    first.setFlaws(says({ result: `0x${'1'.repeat(64 * 1024 * 1024)}` }));
    second.setFlaws(says({ result: [] }));
    expect(await both().send('debug_traceBlockByHash', ['0x01'])).toEqual([]);
    first.setFlaws(says({ result: '0x1' }));
    expect(await both().send('eth_getBalance', [account, '0x1'])).toBe('0x1');
    expect(askedOf(second)).toHaveLength(1);
  });
});
