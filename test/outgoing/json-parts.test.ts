import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isCrowded } from '../../src/chain/rpc/answer-size.ts';
import { hasMoreParts } from '../../src/outgoing/json-parts.ts';
import { type RecordedBlock, readFixture, recordedBlocks } from '../support/recorded-chain.ts';

type Parts = { containers: number; texts: number; names: Set<string> };

function count(value: unknown, found: Parts = { containers: 0, texts: 0, names: new Set() }): Parts {
  if (typeof value === 'string') found.texts += 1;
  if (typeof value !== 'object' || value === null) return found;
  found.containers += 1;
  if (!Array.isArray(value)) for (const name of Object.keys(value)) found.names.add(JSON.stringify(name));
  for (const part of Object.values(value)) count(part, found);
  return found;
}

describe('the parts of a JSON text', () => {
  test('are counted exactly, whatever stands within its strings', () => {
    const strings = fc.string({
      unit: fc.constantFrom('"', '\\', '{', '[', ':', ',', 'a', 'é', '\u2028', ' '),
    });
    const values = fc.letrec((tie) => ({
      value: fc.oneof(
        { depthSize: 'small' },
        fc.constantFrom(null, 0, 1.5, true),
        strings,
        fc.array(tie('value')),
        fc.dictionary(strings, tie('value')),
      ),
    })).value;
    fc.assert(
      fc.property(values, fc.constantFrom(undefined, 1, '\t'), (value, indent) => {
        const text = JSON.stringify(value, null, indent);
        const { containers, texts, names } = count(value);
        const most = { containers, texts, names: names.size };
        expect(hasMoreParts(text, most)).toBe(false);
        for (const [kind, number] of Object.entries(most)) {
          if (number > 0) expect(hasMoreParts(text, { ...most, [kind]: number - 1 })).toBe(true);
        }
      }),
    );
  });

  test('are counted in what is no JSON, too', () => {
    const none = { containers: 0, texts: 0, names: 0 };
    for (const text of ['', ' ', 'x', ']', ':', '0']) expect(hasMoreParts(text, none)).toBe(false);
    for (const text of ['"', '"\\"', '[', '{{{', '":']) expect(hasMoreParts(text, none)).toBe(true);
  });
});

describe('what a node answers', () => {
  const hash = `0x${'ab'.repeat(32)}`;
  const account = `0x${'ab'.repeat(20)}`;
  const filled = (value: unknown) => {
    const length = Math.ceil(4_000_000 / JSON.stringify(value).length);
    return JSON.stringify({ jsonrpc: '2.0', id: 1, result: Array(length).fill(value) });
  };

  test.each(recordedBlocks)('is never too crowded, were it of many such blocks: %s', (name) => {
    const { block, receipts, traces } = readFixture<RecordedBlock>(name);
    const parts = [block, receipts, traces ?? []].filter((part) => JSON.stringify(part) !== '[]');
    expect(parts.map((part) => isCrowded(filled(part)))).toEqual(parts.map(() => false));
  });

  test('is not too crowded where all of it is as short as it can be', () => {
    const frame = {
      from: account,
      gas: '0x0',
      gasUsed: '0x0',
      to: account,
      input: '0x',
      value: '0x0',
      type: 'CALL',
    };
    const nested = (depth: number): object =>
      depth === 0 ? frame : { ...frame, calls: [nested(depth - 1)] };
    const action = { callType: 'call', from: account, gas: '0x0', input: '0x', to: account, value: '0x0' };
    const path = Array(600).fill(0);
    const places = { blockHash: hash, blockNumber: 1, transactionHash: hash, transactionPosition: 0 };
    const flat = { action, ...places, result: { gasUsed: '0x0', output: '0x' }, subtraces: 0, type: 'call' };
    const log = {
      ...{ address: account, topics: [], data: '0x', blockNumber: '0x1', transactionHash: hash },
      ...{ transactionIndex: '0x0', blockHash: hash, logIndex: '0x0', removed: false },
    };
    const values = [
      ...[frame, nested(100), { ...flat, traceAddress: path }, { ...flat, traceAddress: [] }, log, hash],
      { address: account, storageKeys: [] },
      { address: account, storageKeys: [hash] },
      { index: '0x1', validatorIndex: '0x1', address: account, amount: '0x1' },
      { error: 'reverted: {"a":["{[{[{["]}' },
    ];
    for (const value of values) expect([value, isCrowded(filled(value))]).toEqual([value, false]);
  });

  test('is too crowded where it is nothing but brackets, quotes or names', () => {
    for (const value of [{}, [], '', '0x', { a: 0 }, [[[[]]]]]) expect(isCrowded(filled(value))).toBe(true);
    expect(isCrowded(`[${'{},'.repeat(100)}{}]`)).toBe(false);
  });
});
