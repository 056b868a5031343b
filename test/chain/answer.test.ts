import { describe, expect, test } from 'vitest';
import { isExecutionFailure, judgeError, readAnswer } from '../../src/chain/rpc/transport/answer.ts';
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
    expect(judgeError('eth_call', error)).toBe('answer');
  });

  test.each([
    ['eth_call', { code: -32005, message: 'Too Many Requests' }],
    ['eth_getBalance', { code: -32005, message: 'daily request count exceeded' }],
    ['eth_sendRawTransaction', { code: 429, message: 'slow down' }],
    ['eth_getLogs', { code: 429, message: 'query returned more than 10000 results' }],
  ])('asks for slower questions by its code (%s %j)', (method, error) => {
    expect(judgeError(method, error)).toBe('limited');
  });

  test.each([
    ['eth_call', { code: -32000, message: 'header not found' }],
    ['eth_call', { code: -32602, message: 'BlockOutOfRangeError: block height is 5 but requested was 99' }],
    ['eth_call', { code: -32601, message: 'the method eth_call does not exist/is not available' }],
    ['eth_call', { code: -32000, message: 'execution aborted (timeout = 5s)' }],
    ['eth_sendRawTransaction', { code: -32601, message: 'not on this plan' }],
  ])('sends a simulation or a broadcast elsewhere (%s %j)', (method, error) => {
    expect(judgeError(method, error)).toBe('elsewhere');
  });

  const words = [
    'Internal error',
    'limit exceeded',
    'credits limited',
    'nonce too low',
    'execution reverted',
    'rpc method is not whitelisted',
    'requested epoch was a null round (2)',
    'query returned more than 10000 results',
    '',
  ];
  const codes = [-32000, -32001, -32600, -32601, -32602, -32603, 3, 12, 4444];
  test.each([
    'eth_blockNumber',
    'eth_gasPrice',
    'eth_getBalance',
    'eth_getBlockByNumber',
    'eth_getBlockReceipts',
    'eth_getCode',
    'eth_getLogs',
    'eth_getTransactionCount',
    'eth_getTransactionReceipt',
    'debug_traceBlockByHash',
    'trace_block',
  ])('is the fault of the node for %s, whatever its words and code', (method) => {
    for (const message of words)
      for (const code of codes) expect(judgeError(method, { code, message })).toBe('refused');
    expect(judgeError('eth_getLogs', { code: -32005, message: 'more than 10000 results' })).toBe('refused');
  });

  test.each([
    ['eth_sendRawTransaction', { code: -32000, message: 'nonce too low' }],
    ['eth_sendRawTransaction', { code: -32603, message: 'anything' }],
    ['eth_estimateGas', { code: -32000, message: 'insufficient funds for transfer' }],
  ])('is an answer where it can be (%s %j)', (method, error) => {
    expect(judgeError(method, error)).toBe('answer');
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
