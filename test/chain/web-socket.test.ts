import { afterAll, afterEach, beforeEach, describe, expect, vi } from 'vitest';
import { WebSocketServer } from 'ws';
import { openTransport } from '../../src/chain/rpc/open-transport.ts';
import { createRpcClients, type RpcClients } from '../../src/chain/rpc/rpc-clients.ts';
import type { OpenNode } from '../../src/chain/rpc/transport.ts';
import { createWsTransport } from '../../src/chain/rpc/ws-transport.ts';
import { createLogger } from '../../src/log.ts';
import { createExchange } from '../../src/outgoing/exchange.ts';
import { createOutgoing } from '../../src/outgoing/outgoing.ts';
import { startGate } from '../keys/tcp-gate.ts';
import { test } from '../support/fixtures.ts';
import { testNetwork } from '../support/networks.ts';
import { type Failure, type NodeProxy, startNodeProxy } from '../support/node-proxy.ts';

// Long enough for a busy machine: only the tests of a node that hangs wait for it.
const timeoutMs = 1_500;
let proxy: NodeProxy;
let clients: RpcClients;

test.beforeAll(async ({ chain }) => {
  proxy = await startNodeProxy(chain.rpcUrl);
});
afterAll(async () => {
  await proxy.close();
});
beforeEach(() => {
  clients = createRpcClients({ timeoutMs, log: createLogger({ level: 'silent' }) });
});
afterEach(() => {
  clients.close();
  proxy.fail('none');
  proxy.forget();
});

type Call = { readonly id: number; readonly method: string };
type Probe = Parameters<OpenNode>[0];

/** A node over WebSocket that answers as it is told to. */
async function startSocketNode(answer: (call: Call) => string) {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  server.on('connection', (socket) => {
    socket.on('message', (data) => socket.send(answer(JSON.parse(data.toString()))));
  });
  await new Promise((resolve) => server.once('listening', resolve));
  const address = server.address();
  const close = () => {
    for (const socket of server.clients) socket.terminate();
    server.close();
  };
  return { url: `ws://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`, close };
}

const overSocket = () => clients.for(testNetwork([proxy.wsUrl]));

describe('a node over WebSocket', () => {
  test('answers, a real one too', async ({ chain }) => {
    const real = clients.for(testNetwork([chain.rpcUrl.replace('http', 'ws')]));
    expect(await real.getBlockNumber()).toBe(0);
    expect(await real.getBalance('0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266')).toBeGreaterThan(0n);
  });

  test('tells no key of its URL that it names', async () => {
    const message = 'No app at /v2/key-of-the-path';
    const node = await startSocketNode(({ id }) => JSON.stringify({ id, error: { code: -32600, message } }));
    const url = `${node.url}/v2/key-of-the-path`;
    const transport = openTransport(url, { outgoing: createOutgoing(), label: 'node' });
    expect(await transport.ask('eth_call', [], { timeoutMs, maxBytes: 1_000 })).toEqual({
      error: { code: -32600, message: 'No app at /v2/[redacted]', data: undefined },
    });
    transport.close();
    node.close();
  });

  test('takes many calls over one connection and hands each its own answer', async () => {
    const before = proxy.connections();
    const node = overSocket();
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, index) => node.send(index % 2 ? 'eth_chainId' : 'eth_blockNumber', [])),
    );
    expect(answers).toEqual(Array.from({ length: 40 }, (_, index) => (index % 2 ? '0x7a69' : '0x0')));
    expect(proxy.connections() - before).toBe(1);
  });

  test.for<Failure>(['drop', 'hang', 'html', 'no json-rpc', 'oversized'])(
    'that fails is left for the next URL, and works again later: %s',
    async (failure, { chain }) => {
      const both = testNetwork([proxy.wsUrl, chain.rpcUrl]);
      proxy.fail(failure);
      expect(await clients.for(both).send('eth_blockNumber', [])).toBe('0x0');
      proxy.fail('none');
      expect(await overSocket().send('eth_blockNumber', [])).toBe('0x0');
    },
  );

  test('is connected to anew after the connection broke', async () => {
    const node = overSocket();
    await node.send('eth_blockNumber', []);
    proxy.fail('drop');
    await expect(node.send('eth_blockNumber', [])).rejects.toThrow('the connection was closed');
    proxy.fail('none');
    expect(await node.send('eth_blockNumber', [])).toBe('0x0');
  });

  test('that has gone silent is connected to anew after one timeout', async ({ chain }) => {
    const gate = await startGate(chain.rpcUrl);
    const quick = createRpcClients({ timeoutMs: 300, log: createLogger({ level: 'silent' }) });
    const node = quick.for(testNetwork([gate.through(chain.rpcUrl).replace('http', 'ws')]));
    expect(await node.send('eth_blockNumber', [])).toBe('0x0');
    gate.lose();
    await expect(node.send('eth_blockNumber', [])).rejects.toThrow('no answer within 300 ms');
    expect(await node.send('eth_blockNumber', [])).toBe('0x0');
    quick.close();
    await gate.close();
  });

  test('whose answer is larger than anybody wants is kept: only who asked for it fails, and it is not parsed', async () => {
    const node = overSocket();
    await node.send('eth_blockNumber', []);
    const before = proxy.connections();
    const parse = vi.spyOn(JSON, 'parse');
    proxy.fail('oversized');
    const to = '0x5FbDB2315678afecb367f032d93F642f64180aa3';
    await expect(node.send('eth_call', [{ to }, 'latest'])).rejects.toThrow('too large');
    expect(parse.mock.calls.filter(([text]) => text.length > 1_000_000)).toEqual([]);
    parse.mockRestore();
    proxy.fail('none');
    expect(await node.send('eth_blockNumber', [])).toBe('0x0');
    expect(proxy.connections()).toBe(before);
  });

  test('whose answer has too many values is kept: only who asked for it fails, and it is not parsed', async () => {
    const crowded = (id: number) => `{"id":${id},"result":[${'{},'.repeat(1_000_000)}{}]}`;
    const node = await startSocketNode(({ id, method }) =>
      method === 'eth_getLogs' ? crowded(id) : JSON.stringify({ id, result: '0x7a69' }),
    );
    const asked = clients.for(testNetwork([node.url]));
    await asked.send('eth_blockNumber', []);
    const parse = vi.spyOn(JSON, 'parse');
    const all = [asked.send('eth_getLogs', []), asked.send('eth_getBalance', [])];
    const [logs, balance] = await Promise.allSettled(all);
    expect(parse.mock.calls.filter(([text]) => text.length > 1_000_000)).toEqual([]);
    parse.mockRestore();
    expect(String(Reflect.get(logs ?? {}, 'reason'))).toContain('too many values for its size');
    expect(balance).toMatchObject({ value: '0x7a69' });
    node.close();
  });

  test('whose traces are longer than a message may be is not blamed for it', async () => {
    const traces = 'x'.repeat(129 * 1024 * 1024);
    const node = await startSocketNode(({ id, method }) =>
      method === 'trace_block' ? traces : JSON.stringify({ id, result: '0x7a69' }),
    );
    const network = testNetwork([node.url]);
    // On a busy machine so much takes seconds to arrive.
    const patient = createRpcClients({ timeoutMs: 60_000, log: createLogger({ level: 'silent' }) });
    const asked = patient.for(network);
    await expect(asked.send('trace_block', ['0x1'])).rejects.toMatchObject({
      attempts: [{ reason: 'overfull' }],
    });
    expect(await asked.send('eth_getBalance', [])).toBe('0x7a69');
    expect(patient.pool(network).status()).toMatchObject([{ errorRate: 0 }]);
    patient.close();
    node.close();
  });

  test('that is asked whether it works again may answer as much as a number has', async () => {
    const node = await startSocketNode(({ id }) => `{"id":${id},${' '.repeat(1_000_000)}"result":"0x7a69"}`);
    const probes: Probe[] = [];
    const open: OpenNode = (probe) => {
      probes.push(probe);
      return createOutgoing().open({ kind: 'node', label: 'node', maxConcurrent: 1, probe });
    };
    const transport = createWsTransport(new URL(node.url), open);
    const exchange = createExchange({ maxSockets: 1, isPublicOnly: false });
    await expect(probes[0]?.(AbortSignal.timeout(10_000), exchange)).rejects.toThrow('over 65536 bytes');
    transport.close();
    node.close();
  });

  test('that is being connected to is asked by many without a listener for each', async () => {
    const warned = vi.fn();
    process.on('warning', warned);
    const transport = openTransport(proxy.wsUrl, { outgoing: createOutgoing(), label: 'node' });
    const limits = { timeoutMs, maxBytes: 1_000 };
    await Promise.all(Array.from({ length: 40 }, () => transport.ask('eth_chainId', [], limits)));
    process.off('warning', warned);
    transport.close();
    expect(warned).not.toHaveBeenCalled();
  });

  test('that does not exist, or is none, is said to be so', async () => {
    await expect(clients.for(testNetwork(['ws://127.0.0.1:9'])).send('eth_blockNumber', [])).rejects.toThrow(
      'ECONNREFUSED',
    );
  });

  test('that has been silent is refused at once, until a question of our own is answered', async () => {
    let now = 1_000_000;
    const outgoing = createOutgoing({ now: () => now });
    const quick = createRpcClients({ timeoutMs: 200, log: createLogger({ level: 'silent' }), outgoing });
    const node = quick.for(testNetwork([proxy.wsUrl]));
    proxy.fail('hang');
    for (let silent = 0; silent < 2; silent += 1) {
      now += 2_000;
      await expect(node.send('eth_blockNumber', [])).rejects.toThrow('No node of network');
    }
    proxy.fail('none');
    proxy.forget();
    await expect(node.send('eth_blockNumber', [])).rejects.toThrow('the circuit breaker of node 31337 ws://');
    expect(proxy.asked).toEqual([]);
    now += 1_000;
    const ask = () => node.send('eth_blockNumber', []).catch(() => 'refused');
    await expect.poll(ask, { interval: 2, timeout: 10_000 }).toBe('0x0');
    expect(proxy.asked[0]).toBe('eth_chainId');
    quick.close();
  });

  test('fails calls in progress when the clients are closed', async () => {
    const release = proxy.hold('eth_gasPrice');
    const node = overSocket();
    await node.send('eth_blockNumber', []);
    const price = expect(node.send('eth_gasPrice', [])).rejects.toThrow();
    await expect.poll(() => proxy.asked, { interval: 2, timeout: 10_000 }).toContain('eth_gasPrice');
    clients.close();
    await price;
    release();
  });
});
