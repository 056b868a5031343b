import { describe, expect, test, vi } from 'vitest';
import { says } from '../support/node/transport-flaws.ts';
import { askedOf, both, first, second, useTwoNodes } from './two-nodes.ts';

useTwoNodes();

const account = `0x${'1'.repeat(40)}`;
const block = ['0x1', false];

describe('an answer that is larger than any', () => {
  test('is not read to its end, and had from the next node', async () => {
    const parse = vi.spyOn(JSON, 'parse');
    first.setFlaws(says({ result: `0x${'1'.repeat(64 * 1024 * 1024)}` }));
    second.setFlaws(says({ result: { hash: '0x01' } }));
    expect(await both().send('eth_getBlockByNumber', block)).toEqual({ hash: '0x01' });
    const texts = parse.mock.calls.map(([text]) => text);
    parse.mockRestore();
    expect(texts).toContainEqual(expect.stringContaining('"hash":"0x01"'));
    expect(texts.some((text) => text.includes('"result":"0x111'))).toBe(false);
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
