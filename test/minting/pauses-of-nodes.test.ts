import { expect, test } from 'vitest';
import { firstOf, pauseOfNodes } from '../../src/rwa/mint-worker/pauses.ts';

const node = { label: 'http://node', finalityUnknown: undefined, standing: 'block 7 is its newest' };

test('a chain without new blocks is a reason for what was sent before, not for what is about to be sent', () => {
  const queued = { hasOpen: false, hasQueued: true, hasUnconfirmed: false };
  expect(pauseOfNodes(node, queued)).toBeUndefined();
  expect(pauseOfNodes(node, { ...queued, hasOpen: true, hasUnconfirmed: true })).toMatchObject({
    reason: 'no_new_blocks',
  });
  expect(pauseOfNodes({ ...node, standing: undefined }, { ...queued, hasUnconfirmed: true })).toBeUndefined();
});

test('a stop by an operator does not hide why what is in flight waits', () => {
  const stop = { reason: 'operator', detail: 'Stopped by an operator.' } as const;
  const inFlight = { reason: 'finality_unknown', detail: 'Too few nodes.' } as const;
  const dear = { reason: 'fee_above_cap', detail: 'Gas costs more.' } as const;
  expect([firstOf(stop, inFlight), firstOf(stop, undefined), firstOf(undefined, inFlight)]).toEqual([
    inFlight,
    stop,
    inFlight,
  ]);
  // What is queued waits for it.
  expect(firstOf(dear, inFlight)).toEqual(dear);
});
