import { describe, expect, test } from 'vitest';
import { broadcastToAll } from '../../src/chain/minting/broadcast-to-all.ts';
import { NodesUnavailableError } from '../../src/chain/rpc/transport/node-fault.ts';

const taking = { send: () => Promise.resolve('0x00') };
const refusing = (message: string) => ({ send: () => Promise.reject(new Error(message)) });
const hanging = { send: () => new Promise<never>(() => {}) };
const silent = (url: string) => ({
  send: () => Promise.reject(new NodesUnavailableError('1', [{ url, message: 'ECONNREFUSED' }])),
});
type Provider = typeof taking | ReturnType<typeof refusing>;
const all = (...providers: Provider[]) =>
  providers.map((provider) => ({ provider, isWaitedFor: provider !== hanging }));

describe('a broadcast to several nodes', () => {
  test('is a success beside refusals, and beside a node that hangs', async () => {
    expect(await broadcastToAll(all(refusing('tx fee exceeds the configured cap'), taking), '0x')).toEqual({
      isTaken: true,
      words: '',
    });
    expect(await broadcastToAll(all(hanging, taking), '0x')).toEqual({ isTaken: true, words: '' });
  });

  test('is refused in the words of all that answer, without waiting for one that has failed', async () => {
    const nodes = all(hanging, refusing('nonce too low'), refusing('insufficient funds'));
    const words = 'nonce too low; insufficient funds';
    expect(await broadcastToAll(nodes, '0x')).toEqual({ isTaken: false, words });
    expect(await broadcastToAll(all(silent('a'), refusing('no')), '0x')).toEqual({
      isTaken: false,
      words: 'no',
    });
  });

  test('is refused by an internal error, and not by a node that is asked too much', async () => {
    const saying = (code: number) => {
      const attempts = [{ url: 'a', message: 'so', code }];
      return { send: () => Promise.reject(new NodesUnavailableError('1', attempts)) };
    };
    expect(await broadcastToAll(all(saying(-32603)), '0x')).toEqual({ isTaken: false, words: 'so' });
    await expect(broadcastToAll(all(saying(-32005)), '0x')).rejects.toThrow('No node');
  });

  test('that is doubted is refused by any node that wants more, and by none that has it', async () => {
    const doubted = (...providers: Parameters<typeof all>) =>
      broadcastToAll(all(...providers), '0x', { isDoubted: true });
    expect(await doubted(taking, refusing('underpriced'))).toEqual({ isTaken: false, words: 'underpriced' });
    expect(await doubted(taking, refusing('already known'))).toEqual({ isTaken: true, words: '' });
    expect(await doubted(refusing('already known'))).toEqual({ isTaken: false, words: 'already known' });
    expect(await doubted(taking, silent('a'))).toEqual({ isTaken: true, words: '' });
  });

  test('is unknown when none answers', async () => {
    await expect(broadcastToAll(all(silent('a'), silent('b')), '0x')).rejects.toMatchObject({
      name: 'NodesUnavailableError',
      attempts: [{ url: 'a' }, { url: 'b' }],
    });
  });
});
