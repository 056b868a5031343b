import { describe, expect } from 'vitest';
import { createLogger } from '../../src/base/log.ts';
import { createRpcClients } from '../../src/chain/rpc/client/rpc-clients.ts';
import { createContractCalls } from '../../src/providers/indexer/tokens/contract-calls.ts';
import { closing } from '../support/closing.ts';
import { deploy } from '../support/deploy.ts';
import { test } from '../support/fixtures.ts';
import { installMulticall } from '../support/multicall.ts';
import { testNetwork } from '../support/networks.ts';
import { type Flaw, failure } from '../support/node/flaw.ts';
import { startNode, type TestNode } from '../support/node/node.ts';
import { callsWith } from '../support/node/wrongs.ts';
import { compileContracts } from '../support/solidity.ts';
import { strain } from '../support/strain.ts';

const symbol = '0x95d89b41';
const hostile = '66'.repeat(18);
const unknownWords = failure(-32000, 'not enough cpu counters to continue the execution');
let coin: string;
let nodes: TestNode[];

test.beforeAll(async ({ chain }) => {
  coin = await deploy(chain.rpcUrl, (await compileContracts())['Coin']);
  await installMulticall(chain.rpcUrl);
});
test.beforeEach(async ({ chain }) => {
  nodes = [await startNode(chain.rpcUrl), await startNode(chain.rpcUrl)];
});
test.afterEach(async () => {
  for (const node of nodes) await node.close();
});

function setUp({ timeoutMs = 5_000, hasMulticall = true } = {}) {
  const lines: string[] = [];
  const log = createLogger({ level: 'warn', destination: { write: (line: string) => lines.push(line) } });
  const clients = closing(createRpcClients({ timeoutMs, log }));
  const node = clients.for(testNetwork(nodes.map(({ url }) => url)));
  const { readMany } = createContractCalls({
    node: {
      send: async (method, params) =>
        method === 'eth_getCode' && !hasMulticall ? '0x' : await node.send(method, params),
    },
  });
  /** What is left of the answers to calls of so many good contracts and then so many hostile ones. */
  const read = async (good: number, bad: number) => {
    const calls = [
      ...Array.from({ length: good }, () => ({ to: coin, data: symbol })),
      ...Array.from({ length: bad }, (_, place) => ({
        to: `0x${hostile}${place.toString(16).padStart(4, '0')}`,
        data: symbol,
      })),
    ];
    const answers = await readMany(calls, (answer) => answer?.includes('434f494e') ?? 'failed');
    return [answers.slice(0, good), answers.slice(good)];
  };
  return { read, lines, asked: () => nodes.flatMap(({ asked }) => asked).length };
}
const follow = (rule: Flaw) => {
  for (const node of nodes) node.setFlaws(rule);
};

describe.each([{ hasMulticall: true }, { hasMulticall: false }])('calls of many contracts (%o)', (how) => {
  test('are answered beside many of which nodes say such words, with few questions', async () => {
    follow(callsWith(hostile, unknownWords));
    const { read, asked } = setUp(how);
    expect(await read(1, 150)).toEqual([[true], Array(150).fill(undefined)]);
    // Twice alone at each node, and once in batches of all sizes.
    expect(asked()).toBeLessThan(2 * 150 * 3.5);
  });

  test('are answered beside one that nodes refuse once only', async () => {
    let refusals = 0;
    follow((call, real) => {
      const answer =
        refusals < nodes.length ? callsWith(`${hostile}0000`, unknownWords)(call, real) : undefined;
      if (answer !== undefined) refusals += 1;
      return answer;
    });
    expect(await setUp({ hasMulticall: false }).read(2, 1)).toEqual([[true, true], [false]]);
  });

  test('are answered beside one that takes as long as a node may', async () => {
    follow(callsWith(hostile, 'hang'));
    const { read } = setUp({ ...how, timeoutMs: 500 * strain() });
    expect(await read(99, 1)).toEqual([Array(99).fill(true), [undefined]]);
  });

  test.for([
    ['say no to all of them', callsWith('', failure(-32000, 'backend is down'))],
    ['answer none of them', callsWith('', 'hang')],
    ['answer nothing', () => 'hang' as const],
    ['want fewer questions', callsWith(hostile, failure(-32005, 'too many requests'))],
    ['do not have the block', callsWith('', failure(-32000, 'header not found'))],
  ] as const)('reject where nodes %s', async ([, rule]) => {
    follow(rule);
    await expect(setUp({ ...how, timeoutMs: 500 }).read(20, 1)).rejects.toThrow('No node of network');
  });

  test('reject where nodes are gone', async () => {
    for (const node of nodes) await node.close();
    await expect(setUp(how).read(20, 1)).rejects.toThrow('No node of network');
  });

  test('are answered by the second node where the first one hangs', async () => {
    nodes[0]?.setFlaws(() => 'hang');
    expect(await setUp(how).read(20, 1)).toEqual([Array(20).fill(true), [false]]);
  });
});

test('calls are answered in time beside 150 that nodes never answer, and no node is thought less of', async () => {
  follow(callsWith(hostile, 'hang'));
  const { read, lines } = setUp();
  const begun = performance.now();
  expect(await read(50, 150)).toEqual([Array(50).fill(true), Array(150).fill(undefined)]);
  expect(performance.now() - begun).toBeLessThan(13_000);
  expect(lines).toEqual([]);
});
