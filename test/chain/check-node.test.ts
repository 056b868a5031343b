import { afterAll, afterEach, describe, expect } from 'vitest';
import { checkNode } from '../../src/chain/rpc/transport/check-node.ts';
import { test as base, perFile } from '../support/fixtures.ts';
import { startNode, type TestNode } from '../support/node/node.ts';
import { type Failure, failures } from '../support/node/transport-flaws.ts';

const test = base.extend('chainOptions', perFile, { chainId: '4242' });

let proxy: TestNode;

test.beforeAll(async ({ chain }) => {
  proxy = await startNode(chain.rpcUrl);
});
afterAll(async () => {
  await proxy.close();
});
afterEach(() => proxy.setFlaws());

describe('the check of a node', () => {
  test('passes one that serves the chain, over HTTP', async ({ chain }) => {
    expect(await checkNode(chain.rpcUrl, '4242', 5_000)).toEqual({ blockNumber: 0n });
  });

  test('says which chain the node serves instead', async ({ chain }) => {
    await expect(checkNode(chain.rpcUrl, '1', 5_000)).rejects.toMatchObject({
      name: 'NodeCheckError',
      reason: 'wrong_chain',
      message: `Node ${chain.rpcUrl}: the node serves chain 4242, not 1. Use the URL of a node of this network, or correct the chain id.`,
    });
  });

  test.each<[Failure, RegExp]>([
    ['drop', /other side closed.*Check that the node runs/],
    ['hang', /no answer within 200 ms.*overloaded/],
    ['html', /not JSON-RPC.*JSON-RPC endpoint/],
    ['status 401', /HTTP status 401.*credentials/],
    ['redirect', /HTTP status 307.*redirects are not followed/],
    ['rate limit', /Too many requests/],
  ])('says what to mend: %s', async (failure, message) => {
    proxy.setFlaws(failures[failure]);
    await expect(checkNode(proxy.url, '4242', failure === 'hang' ? 200 : 5_000)).rejects.toThrow(message);
  });

  test.each([
    ['not a url', 'it is not a URL'],
    ['ftp://node.example', 'it must begin with http or https, not ftp:'],
    [
      'wss://node.example',
      'it must begin with http or https, not wss:. Use the http(s) address of the same node',
    ],
  ])('refuses the URL %j', async (url, fault) => {
    await expect(checkNode(url, '1', 200)).rejects.toThrow(fault);
  });

  test('shows no credentials', async () => {
    const url = `${proxy.url.replace('//', '//user:hunter2@')}/v3/s3cr3t?key=s3cr3t`;
    const error: unknown = await checkNode(url, '1', 5_000).catch((reason: unknown) => reason);
    expect(String(error)).toContain('/[redacted]: the node serves chain 4242');
    expect(String(error)).not.toMatch(/hunter2|s3cr3t/);
  });
});
