import { Interface } from 'ethers';
import { describe, expect, test } from 'vitest';
import { callContract, readContract } from '../../src/chain/rpc/client/contract-call.ts';
import { askFinalizedTag } from '../../src/chain/rpc/transport/finalized-block.ts';
import { NodesUnavailableError, OversizedAnswerError } from '../../src/chain/rpc/transport/node-fault.ts';
import { nodeErrorCode, nodeMessage } from '../../src/chain/rpc/transport/node-message.ts';
import { stepsOf } from '../support/decoded.ts';
import { testNetwork } from '../support/networks.ts';
import { says } from '../support/node/transport-flaws.ts';
import { askedOf, clients, first, useTwoNodes } from './two-nodes.ts';

useTwoNodes();

const node = () => clients.for(testNetwork([first.url]));
const error = (code: number, message: string, data?: unknown) => ({ error: { code, message, data } });
const rejection = (promise: Promise<unknown>) =>
  promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );

describe('the finalized block', () => {
  test('is the one that the node says', async () => {
    first.setFlaws(says({ result: { number: '0x64', hash: '0x00' } }));
    expect(await askFinalizedTag(node())).toBe(100n);
    expect(askedOf(first).at(-1)?.params).toEqual(['finalized', false]);
  });

  test.each([
    ['null', { result: null }, 'none'],
    ['geth before the first one', error(-39001, 'finalized block not found'), 'none'],
    ['old geth', error(-32602, 'invalid argument 0: hex string without 0x prefix'), 'unsupported'],
    ['Besu', error(-32602, 'Invalid block parameter'), 'unsupported'],
    ['any that refuses the parameters', error(-32602, 'no'), 'unsupported'],
  ])('is not told where the node does not know the tag: %s', async (_node, answer, tag) => {
    first.setFlaws(says(answer));
    expect(await askFinalizedTag(node())).toBe(tag);
  });

  test.each([
    ['no node answers', 'drop' as const],
    ['the node is over its limit', error(-32005, 'Too Many Requests')],
    ['the node fails', error(-32603, 'Internal error')],
    ['the node was too slow', error(-32002, 'request timed out')],
    ['the error says nothing by its code', error(-32000, 'QUANTITY not supported')],
    ['the account is unknown', error(-32000, 'project not found')],
    ['the answer is no block', { result: 'final' }],
    ['the block has no number', { result: { hash: '0x00' } }],
  ])('is unknown when %s', async (_case, answer) => {
    first.setFlaws(says(answer));
    await expect(askFinalizedTag(node())).rejects.toThrow();
  });
});

describe('a call of a contract', () => {
  const call = { to: `0x${'1'.repeat(40)}`, data: '0x12345678' };

  test('is answered in hex, at the block and with the gas that was asked for', async () => {
    first.setFlaws(says({ result: '0x01ff' }));
    expect(await callContract(node(), { ...call, gas: 255n }, 16n)).toBe('0x01ff');
    expect(askedOf(first).at(-1)?.params).toEqual([{ ...call, gas: '0xff' }, '0x10']);
    await callContract(node(), { ...call, from: call.to }, 'latest');
    expect(askedOf(first).at(-1)?.params).toEqual([{ ...call, from: call.to }, 'latest']);
  });

  test('has no value when the contract reverts', async () => {
    first.setFlaws(says(error(3, 'execution reverted', '0x')));
    expect(await callContract(node(), call, 'latest')).toBeUndefined();
    expect(await readContract(node(), call, 'latest')).toBeUndefined();
  });

  test('has no value either when it reverts with much, of which the beginning is read', async () => {
    const words = 'block '.repeat(10_000);
    const reason = new Interface(['error Error(string)']).encodeErrorResult('Error', [words]);
    for (const data of [reason, { message: words, data: reason }]) {
      first.setFlaws(says(error(3, `execution reverted: ${words}`, data)));
      const steps = await stepsOf(async () => {
        expect(await callContract(node(), call, 'latest')).toBeUndefined();
      });
      expect(steps).toBeLessThan(20_000);
    }
  });

  test('rejects when the node fails, also when it is only read', async () => {
    for (const answer of ['drop' as const, error(-32000, 'header not found')]) {
      first.setFlaws(says(answer));
      await expect(callContract(node(), call, 'latest')).rejects.toBeInstanceOf(NodesUnavailableError);
      await expect(readContract(node(), call, 'latest')).rejects.toBeInstanceOf(NodesUnavailableError);
    }
  });

  test('rejects an answer that is too large, unless it may be left out', async () => {
    first.setFlaws(says({ result: `0x${'00'.repeat(600 * 1024)}` }));
    await expect(callContract(node(), call, 'latest')).rejects.toBeInstanceOf(OversizedAnswerError);
    expect(await readContract(node(), call, 'latest')).toBeUndefined();
  });
});

describe("a node's own message", () => {
  test('is what the node said, without the question', async () => {
    first.setFlaws(says(error(-32000, 'history is pruned', { reason: 'disk' })));
    const reason = await rejection(node().send('eth_getLogs', [{ address: '0xSECRET' }]));
    expect(nodeMessage(reason)).toContain('history is pruned; {"reason":"disk"}');
    expect(nodeMessage(reason)).not.toContain('SECRET');
    expect(nodeErrorCode(reason)).toBe(-32000);
  });

  test.each([
    ['the nonce of the transaction is too low', 'nonce has already been used'],
    ['base fee exceeds gas limit', 'insufficient funds'],
  ])('is found in an error that ethers recognised, beside its reading of it: %s', async (said, read) => {
    first.setFlaws(says(error(-32000, said)));
    const message = nodeMessage(await rejection(node().send('eth_sendRawTransaction', ['0x00'])));
    expect(message).toContain(said);
    expect(message).toContain(read);
  });

  test('is cut where it is long: patterns are matched against it', async () => {
    for (const long of [error(-32000, 'no '.repeat(100_000)), error(-32000, 'no', 'no '.repeat(100_000))]) {
      first.setFlaws(says(long));
      const thrown = await rejection(node().send('eth_getLogs', [{}]));
      expect(nodeMessage(thrown)).toMatch(/no no no/);
      expect(nodeMessage(thrown).length).toBeLessThan(10_000);
    }
  });

  test('is that of every node when none answered, without their addresses', async () => {
    first.setFlaws(says(error(-32603, 'out of disk')));
    const reason = await rejection(node().send('eth_call', []));
    expect(nodeMessage(reason)).toBe('out of disk');
    expect(nodeErrorCode(reason)).toBeUndefined();
  });

  test('is the message of any other error, and empty for what is none', () => {
    expect(nodeMessage(new Error('something else'))).toBe('something else');
    expect(nodeMessage('text')).toBe('');
    expect(nodeErrorCode(new Error('something else'))).toBeUndefined();
  });
});
