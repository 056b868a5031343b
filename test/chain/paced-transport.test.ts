import { expect, it as test } from 'vitest';
import { createPacedTransport } from '../../src/chain/rpc/transport/paced-transport.ts';

/** A node that limits every second question. */
function everyOther() {
  let asked = 0;
  const ask = async () => {
    asked += 1;
    return asked % 2 === 0 ? { error: { code: -32005, message: 'slow down' } } : { result: '0x1' };
  };
  return { ask, close() {} };
}

test('a patient question is asked again, though the pause is longer than an answer may take', async () => {
  const node = createPacedTransport(everyOther(), () => performance.now());
  const limits = { timeoutMs: 1, maxBytes: 1_000 };
  const first = await node.ask('eth_blockNumber', [], limits);
  const patient = await node.ask('eth_blockNumber', [], { ...limits, isPatient: true });
  const other = await node.ask('eth_blockNumber', [], limits);
  expect(first).toEqual({ result: '0x1' });
  expect(patient).toEqual({ result: '0x1' });
  expect(other).toHaveProperty('error.message', 'slow down');
});
