import { describe, expect, test } from 'vitest';
import { isExecutionFailure, judge, readAnswer } from '../../src/chain/rpc/transport/answer.ts';
import { createHide } from '../../src/chain/rpc/transport/hide-parts.ts';

const nothingHidden = new URL('https://node.example');
const read = (value: unknown, id: number, url = nothingHidden) => readAnswer(value, id, createHide(url));

// Errors as the clients and providers write them.
const failures: [string, { code: number; message: string }][] = [
  ['geth', { code: 3, message: 'execution reverted: rate limit exceeded' }],
  ['geth, no data', { code: -32000, message: 'execution reverted' }],
  ['geth, opcode', { code: -32000, message: 'invalid opcode: INVALID' }],
  ['geth, gas', { code: -32000, message: 'out of gas' }],
  ['geth, jump', { code: -32000, message: 'invalid jump destination' }],
  ['anvil', { code: -32603, message: 'EVM error InvalidFEOpcode' }],
  ['Nethermind', { code: -32015, message: 'VM execution error.' }],
  [
    'Hardhat',
    { code: -32603, message: "VM Exception while processing transaction: reverted with reason 'quota'" },
  ],
  ['Besu', { code: -32000, message: 'Execution reverted' }],
];

describe('an error of a node', () => {
  test.each(failures)('is an answer when the code of a contract failed (%s)', (_client, error) => {
    expect(isExecutionFailure(error)).toBe(true);
    expect(judge('eth_call', error)).toBe('answer');
  });

  test.each([
    ['eth_call', { code: -32005, message: 'Too Many Requests' }],
    ['eth_getBalance', { code: -32005, message: 'daily request count exceeded, request rate limited' }],
    ['eth_call', { code: 429, message: 'Your app has exceeded its compute units per second capacity' }],
    ['eth_blockNumber', { code: -32097, message: 'slow down' }],
  ])('is a fault when the node turns us away (%s %j)', (method, error) => {
    expect(judge(method, error)).toBe('fault');
  });

  test.each([
    ['eth_call', { code: -32000, message: 'header not found' }],
    ['eth_getBalance', { code: -32000, message: 'missing trie node 0ab (path )' }],
    ['eth_call', { code: -32602, message: 'BlockOutOfRangeError: block height is 5 but requested was 99' }],
    ['eth_getBalance', { code: -32603, message: 'Internal error' }],
    ['eth_call', { code: -32601, message: 'the method eth_call does not exist/is not available' }],
    ['eth_call', { code: -32000, message: 'execution aborted (timeout = 5s)' }],
  ])('sends us elsewhere when this node cannot tell (%s %j)', (method, error) => {
    expect(judge(method, error)).toBe('elsewhere');
  });

  test.each([
    ['debug_traceBlockByHash', { code: -32601, message: 'the method does not exist/is not available' }],
    ['trace_block', { code: -32004, message: 'Method not supported' }],
    ['trace_block', { code: -32000, message: 'old data not available due to pruning' }],
    ['eth_getBlockByNumber', { code: 4444, message: 'pruned history unavailable' }],
  ])('is an answer where no node has what this one lacks (%s %j)', (method, error) => {
    expect(judge(method, error)).toBe('lacking');
  });

  test.each([
    ['eth_sendRawTransaction', { code: -32000, message: 'nonce too low' }],
    ['eth_sendRawTransaction', { code: -32003, message: 'replacement transaction underpriced' }],
    ['eth_getLogs', { code: -32005, message: 'query returned more than 10000 results' }],
    ['eth_estimateGas', { code: -32000, message: 'insufficient funds for transfer' }],
    ['eth_getBalance', { code: -32602, message: 'invalid argument 0' }],
  ])('is an answer when it is about the request (%s %j)', (method, error) => {
    expect(judge(method, error)).toBe('answer');
  });
});

describe('an answer', () => {
  test('has no U+0000 in its words, which the database would refuse', () => {
    const error = { code: -32000, message: 'no \0 block' };
    expect(read({ id: 1, error }, 1)).toEqual({ error: { code: -32000, message: 'no \ufffd block' } });
  });

  test('says nothing of what the URL of the node hides, wherever it stands in an error', () => {
    const url = new URL(
      'https://us%40r-name:pass%2Bword@node.example/v2/KEY-of-the-path?apikey=key+of+query&v=1.0',
    );
    const secrets = [
      'us@r-name',
      'us%40r-name',
      'pass+word',
      'KEY-of-the-path',
      'key of query',
      'key+of+query',
      btoa('us@r-name:pass+word'),
    ];
    const long = `${'-'.repeat(4_090)}KEY-of-the-path`;
    for (const [message, data] of [
      [`no app for ${secrets.join(', ')} at v2`, { url: url.href, of: [{ user: secrets.join() }], size: 7 }],
      [`${url.href} is inactive`, `${url.pathname} of ${url.href}`],
      [long, undefined],
    ]) {
      const told = JSON.stringify(read({ id: 1, error: { code: -32600, message, data } }, 1, url));
      for (const secret of secrets) expect(told).not.toContain(secret);
      expect(told).not.toContain('KEY-of');
    }
    // What is short is no secret, and what a contract returned stays as it is.
    const hex = `0x${'12345678'.repeat(8)}`;
    const error = { code: 3, message: 'reverted at v2: apikey', data: { data: hex, size: 7, none: null } };
    expect(read({ id: 1, error }, 1, new URL('https://node.example/v2/12345678?apikey=12345678'))).toEqual({
      error,
    });
    expect(read({ id: 1, error: { ...error, data: hex } }, 1, new URL('https://n.example/345678'))).toEqual({
      error: { ...error, data: hex },
    });
  });

  test('is a result or an error with the id of the request', () => {
    expect(read({ jsonrpc: '2.0', id: 7, result: null }, 7)).toEqual({ result: null });
    expect(read({ id: 7, result: '0x', error: null }, 7)).toEqual({ result: '0x' });
    const error = { code: 3, message: 'execution reverted', data: '0x' };
    expect(read({ id: 7, error }, 7)).toEqual({ error });
    expect(read({ id: null, error }, 7)).toEqual({ error });
  });

  test.each([
    [undefined],
    [null],
    ['0x1'],
    [[{ id: 7, result: '0x' }]],
    [{}],
    [{ id: 7 }],
    [{ id: 8, result: '0x' }],
    [{ id: '7', result: '0x' }],
    [{ id: null, result: '0x' }],
    [{ id: 7, error: 'no' }],
    [{ id: 7, error: { code: '3', message: 'no' } }],
    [{ id: 7, error: { code: 3 } }],
  ])('is not %j', (value) => {
    expect(read(value, 7)).toBeUndefined();
  });
});
