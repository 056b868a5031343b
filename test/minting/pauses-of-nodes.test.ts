import { expect, test } from 'vitest';
import { pauseOfNodes } from '../../src/rwa/mint-worker/pauses.ts';

const node = { label: 'http://node', finalityUnknown: undefined, standing: 'block 7 is its newest' };

test('a chain without new blocks is a reason for what was sent before, not for what is about to be sent', () => {
  const queued = { hasOpen: false, hasQueued: true, hasUnconfirmed: false };
  expect(pauseOfNodes(node, queued)).toBeUndefined();
  expect(pauseOfNodes(node, { ...queued, hasOpen: true, hasUnconfirmed: true })).toMatchObject({
    reason: 'no_new_blocks',
  });
  expect(pauseOfNodes({ ...node, standing: undefined }, { ...queued, hasUnconfirmed: true })).toBeUndefined();
});
