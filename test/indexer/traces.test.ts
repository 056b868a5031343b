import { describe, expect, test } from 'vitest';
import { readCallTraces, readFlatTraces } from '../../src/providers/indexer/decode/traces.ts';
import { alice, bob, carol, token, transactionHash } from './raw-answers.ts';

const blockHash = `0x${'bb'.repeat(32)}`;
const zeroes = `0x${'0'.repeat(64)}`;

/** Alice pays Bob. Then she calls the token, which pays Carol. */
const own = [
  { hash: `0x${'88'.repeat(32)}`, from: alice, to: bob, gas: 1n },
  { hash: transactionHash, from: alice, to: token, gas: 1n },
];
const paying = { type: 'CALL', from: token, to: carol, value: '0x5' };
const frames = [
  { type: 'CALL', from: alice, to: bob, value: '0x1' },
  { type: 'CALL', from: alice, to: token, value: '0x0', calls: [paying] },
];
const paid = [{ from: token, to: carol, value: 5n, internal: true }];

describe('traces of callTracer', () => {
  test.each([
    ['with its hash', frames.map((result, place) => ({ txHash: own[place]?.hash, result }))],
    ['without a hash', frames.map((result) => ({ result }))],
    ['with a hash of zeros', frames.map((result) => ({ txHash: zeroes, result }))],
    ['with an empty hash', frames.map((result) => ({ txHash: '0x', result }))],
    ['with a hash that is null', frames.map((result) => ({ txHash: null, result }))],
    ['that is a bare frame', frames],
    ['with kinds in other letters', JSON.parse(JSON.stringify(frames).replaceAll('"CALL"', '"Call"'))],
  ])('belong to the transactions at their places, each %s', (_form, list) => {
    const { traces, missing } = readCallTraces(list, own);
    expect(missing).toBeUndefined();
    expect(traces.get(transactionHash)?.native).toEqual(paid);
  });

  test.each([
    ['for some transactions only', frames.slice(0, 1).map((result) => ({ result }))],
    ['of other transactions', frames.map((result) => ({ txHash: `0x${'ee'.repeat(32)}`, result }))],
    ['that do not exist', []],
    ['that failed', frames.map(() => ({ error: 'execution timeout' }))],
  ])('are missing %s', (_how, list) => {
    expect(readCallTraces(list, own).missing).toBeTypeOf('string');
  });

  test.each([
    { type: 'SELFDESTRUCT' },
    { type: 'SELFDESTRUCT', from: token, value: '0x5' },
    { type: 'CALL', from: token, to: carol },
    { type: 'CALL', to: carol, value: '0x5' },
    { type: 'CREATE', from: token, value: '0x5', to: '' },
    { from: token, to: carol, value: '0x5' },
    { type: 'EXTCALL', from: token, to: carol, value: '0x5' },
  ])('are missing where a frame inside is no whole one: %j', (frame) => {
    const result = { type: 'CALL', from: alice, to: token, value: '0x0', calls: [frame] };
    expect(readCallTraces([{ result }], own.slice(1)).missing).toBeTypeOf('string');
  });
});

/** A frame of `trace_block` that moves something. */
const flatFrame = (traceAddress: readonly number[], value: number, error?: string) => ({
  type: 'call',
  transactionHash,
  blockHash,
  traceAddress,
  ...(error !== undefined && { error }),
  action: { callType: 'call', from: alice, to: token, value: `0x${value.toString(16)}` },
});

describe('frames of trace_block', () => {
  const called = own.slice(1);

  test.each([
    ['by hash', { transactionHash }],
    ['by position', { transactionHash: undefined, transactionPosition: 0 }],
    ['by position next to a hash of zeros', { transactionHash: zeroes, transactionPosition: '0x0' }],
  ])('belong to their transaction %s', (_how, name) => {
    const list = [flatFrame([], 1), flatFrame([0], 2)].map((frame) => ({ ...frame, ...name }));
    const { traces, missing } = readFlatTraces(list, blockHash, called);
    expect(missing).toBeUndefined();
    expect(traces.get(transactionHash)?.native.map(({ value }) => value)).toEqual([1n, 2n]);
  });

  test.each([
    { type: 'moved', action: { from: token, to: carol, value: '0x5' } },
    { type: 'call', action: { callType: 'extcall', from: token, to: carol, value: '0x5' } },
    { type: 'selfdestruct', action: { address: token, refundAddress: carol } },
    { type: 'suicide', action: { address: token, refundAddress: carol } },
    { type: 'call', action: { callType: 'call', from: token, to: carol } },
    { type: 'create', action: { from: token, value: '0x5' } },
  ])('are missing where one inside is no whole one: %j', (frame) => {
    const list = [flatFrame([], 0), { ...frame, transactionHash, traceAddress: [0] }];
    expect(readFlatTraces(list, blockHash, called).missing).toBeTypeOf('string');
  });

  test('that failed undo what is inside them and nothing else, in any order of the list', () => {
    const list = [
      flatFrame([], 1),
      flatFrame([1], 2, 'Reverted'),
      flatFrame([1, 0], 3),
      flatFrame([1, 0, 5], 4),
      flatFrame([10], 5),
      flatFrame([10, 1], 6, 'Out of gas'),
      flatFrame([10, 10], 7),
      flatFrame([10, 1, 0], 8, 'Reverted'),
    ];
    for (const order of [list, list.toReversed(), [...list.slice(3), ...list.slice(0, 3)]]) {
      const found = readFlatTraces(order, blockHash, called).traces.get(transactionHash);
      expect(found).toMatchObject({ failed: false, calls: 7 });
      expect(new Set(found?.native.map(({ value }) => value))).toEqual(new Set([1n, 5n, 7n]));
    }
    const whole = [...list.slice(1), flatFrame([], 1, 'Reverted')];
    expect(readFlatTraces(whole, blockHash, called).traces.get(transactionHash)).toMatchObject({
      failed: true,
      native: [],
    });
  });
});
