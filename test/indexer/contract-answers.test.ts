import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { Interface } from 'ethers';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readErc20Balance } from '../../src/chain/erc20.ts';
import { NetworkProvider } from '../../src/chain/rpc/client/network-provider.ts';
import { createStateReader } from '../../src/providers/indexer/read/state-reader.ts';
import { createContractCalls } from '../../src/providers/indexer/tokens/contract-calls.ts';
import { stepsOf } from '../support/decoded.ts';
import { testNetwork } from '../support/networks.ts';

const blockHash = `0x${'b'.repeat(64)}`;
const network = testNetwork(['http://127.0.0.1:9']);
const word = (value: bigint) => value.toString(16).padStart(64, '0');
const calls = Array.from({ length: 10 }, () => ({ to: `0x${'1'.repeat(40)}`, data: '0x' }));
const at = { network, blockNumber: 1n, blockHash };
const aggregate = new Interface([
  'function aggregate3((address, bool, bytes)[] calls) view returns ((bool success, bytes returnData)[])',
]);

/** A node whose contracts answer this. */
function nodeOf(answer: () => string, code = '0x') {
  const say: Record<string, () => unknown> = {
    eth_blockNumber: () => '0x1',
    eth_getCode: () => code,
    eth_getBlockByNumber: () => ({ hash: blockHash }),
    eth_call: answer,
  };
  return new NetworkProvider(network, async (method) => ({ result: say[method]?.() }));
}

function usedBytes(): number {
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')();
  return process.memoryUsage().heapUsed;
}

describe('the answers of contracts that are kept for a page', () => {
  test('are their first words, however much a contract answers', async () => {
    const node = nodeOf(() => `0x${word(7n)}${'ab'.repeat(240_000)}`);
    const states = createStateReader({ clients: { for: () => node } });
    const before = usedBytes();
    for (let page = 0; page < 20; page += 1) await states.call(at, `page ${page}`, calls);
    expect(usedBytes() - before).toBeLessThan(8 * 1024 ** 2);
    expect(await states.call(at, 'page 0', calls)).toEqual(calls.map(() => `0x${word(7n)}`));
    states.close();
  });

  test('tell one that is shorter from a failure', async () => {
    const node = nodeOf(() => '0x01');
    const states = createStateReader({ clients: { for: () => node } });
    expect(await states.call(at, 'page', calls)).toEqual(calls.map(() => '0x01'));
    states.close();
  });
});

describe('a balance', () => {
  test('is read from the first words of answers of any size', async () => {
    const node = nodeOf(() => `0x${word(7n)}${'00'.repeat(240_000)}`, '0x01');
    const contract = `0x${'1'.repeat(40)}`;
    const steps = await stepsOf(async () => {
      expect(await readErc20Balance(node, contract, contract)).toMatchObject({ balance: 7n, decimals: 7 });
    });
    // What is asked is encoded.
    expect(steps).toBeLessThan(2_000);
  });
});

describe('Multicall', () => {
  test('is looked for again ten minutes after a node said that it is not there', async () => {
    const clock = { ms: 0 };
    const asked: string[] = [];
    let code = '0x';
    const node = {
      async send(method: string) {
        asked.push(method);
        return method === 'eth_getCode' ? code : aggregate.encodeFunctionResult('aggregate3', [both]);
      },
    };
    const both = [
      [true, '0x01'],
      [true, '0x02'],
    ];
    const { readMany } = createContractCalls({ node, now: () => clock.ms });
    const read = async () => {
      await readMany(calls.slice(0, 2), () => undefined);
      return asked.splice(0);
    };
    expect(await read()).toEqual(['eth_getCode', 'eth_call', 'eth_call']);
    code = '0x01';
    clock.ms = 599_999;
    expect(await read()).toEqual(['eth_call', 'eth_call']);
    clock.ms = 600_000;
    expect(await read()).toEqual(['eth_getCode', 'eth_call']);
    clock.ms = 3_600_000;
    expect(await read()).toEqual(['eth_call']);
  });
});

describe('many calls in one', () => {
  const read = (answer: string, count: number) =>
    createContractCalls({ node: nodeOf(() => answer, '0x01') }).readMany(
      calls.slice(0, count),
      (text) => text,
    );
  const encode = (results: readonly [boolean, string][]) =>
    aggregate.encodeFunctionResult('aggregate3', [results]);

  test('are read as they were encoded, without taking them apart byte by byte', async () => {
    const bytes = fc.uint8Array({ minLength: 1, maxLength: 100 }).map((array) => {
      return `0x${Buffer.from(array).toString('hex')}`;
    });
    await fc.assert(
      fc.asyncProperty(fc.array(bytes, { minLength: 2, maxLength: 10 }), async (answers) => {
        const encoded = encode(answers.map((answer) => [true, answer]));
        expect(await read(encoded, answers.length)).toEqual(answers);
      }),
    );
    const large = `0x${'ab'.repeat(100_000)}`;
    const encoded = encode([
      [true, large],
      [true, '0x01'],
    ]);
    expect(await stepsOf(async () => expect(await read(encoded, 2)).toEqual([large, '0x01']))).toBeLessThan(
      2_000,
    );
  });
});
