import { describe, expect, test } from 'vitest';
import { readFlatTraces } from '../../src/providers/indexer/decode/traces.ts';
import { alice, bob, transactionHash } from './raw-answers.ts';

const blockHash = `0x${'bb'.repeat(32)}`;

const own = [{ hash: transactionHash, from: alice, to: bob, gas: 1n }];

/** A frame of `trace_block` that moves something. */
const frame = (traceAddress: readonly number[], value: number, error?: string) => ({
  type: 'call',
  transactionHash,
  blockHash,
  traceAddress,
  ...(error !== undefined && { error }),
  action: { callType: 'call', from: alice, to: bob, value: `0x${value.toString(16)}` },
});

describe('failed frames of trace_block', () => {
  const frames = [
    frame([], 1),
    frame([1], 2, 'Reverted'),
    frame([1, 0], 3),
    frame([1, 0, 5], 4),
    frame([10], 5),
    frame([10, 1], 6, 'Out of gas'),
    frame([10, 10], 7),
    frame([10, 1, 0], 8, 'Reverted'),
  ];

  test('undo what is inside them and nothing else, in any order of the list', () => {
    for (const list of [frames, frames.toReversed(), [...frames.slice(3), ...frames.slice(0, 3)]]) {
      const found = readFlatTraces(list, blockHash, own).traces.get(transactionHash);
      expect(found).toMatchObject({ failed: false, calls: 7 });
      expect(new Set(found?.native.map(({ value }) => value))).toEqual(new Set([1n, 5n, 7n]));
    }
    const whole = [...frames.slice(1), frame([], 1, 'Reverted')];
    expect(readFlatTraces(whole, blockHash, own).traces.get(transactionHash)).toMatchObject({
      failed: true,
      native: [],
    });
  });
});
