import { describe, expect, test } from 'vitest';
import { broadcastToAll } from '../../src/chain/minting/broadcast-to-all.ts';
import { NodesUnavailableError } from '../../src/chain/rpc/transport/node-fault.ts';

const taking = { send: () => Promise.resolve('0x00') };
const refusing = (message: string) => ({ send: () => Promise.reject(new Error(message)) });
const hanging = { send: () => new Promise<never>(() => {}) };
const silent = (url: string) => ({
  send: () => Promise.reject(new NodesUnavailableError('1', [{ url, message: 'ECONNREFUSED' }])),
});
const all = (...providers: readonly (typeof taking | ReturnType<typeof refusing>)[]) =>
  providers.map((provider) => ({ provider, isWaitedFor: provider !== hanging }));

describe('a broadcast to several nodes', () => {
  test('is a success beside refusals, and beside a node that hangs', async () => {
    expect(
      await broadcastToAll(all(refusing('tx fee exceeds the configured cap'), taking), '0x'),
    ).toMatchObject({ outcome: 'sent' });
    expect(
      await broadcastToAll(all(refusing('nonce too low'), refusing('already known')), '0x'),
    ).toMatchObject({ outcome: 'known' });
    expect(await broadcastToAll(all(hanging, taking), '0x')).toMatchObject({ outcome: 'sent' });
  });

  test('is refused as the first node says when none has it, without waiting for one that has failed', async () => {
    const nodes = all(hanging, refusing('nonce too low'), refusing('insufficient funds'));
    expect(await broadcastToAll(nodes, '0x')).toMatchObject({ outcome: 'nonce_used' });
    expect(await broadcastToAll(all(silent('a'), refusing('nonce too low')), '0x')).toMatchObject({
      outcome: 'nonce_used',
    });
  });

  test('is unknown when none answers', async () => {
    await expect(broadcastToAll(all(silent('a'), silent('b')), '0x')).rejects.toMatchObject({
      name: 'NodesUnavailableError',
      attempts: [{ url: 'a' }, { url: 'b' }],
    });
  });
});
