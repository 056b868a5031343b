import { describe, expect } from 'vitest';
import { test } from '../support/fixtures.ts';
import { failure } from '../support/node/flaw.ts';
import { chainAround, type OddChain } from '../support/odd-chain.ts';
import { startOddIndex } from '../support/odd-index.ts';
import type { TestService } from '../support/service.ts';

const [payer, payee] = [`0x${'a1'.repeat(20)}`, `0x${'b2'.repeat(20)}`];
const blocks = chainAround({}, { payer, payee });
const whole: OddChain = { blocks };

/** A network whose nodes have these chains, and its index. */
async function start(service: TestService, ...chains: readonly OddChain[]) {
  const run = await startOddIndex(service, chains, { indexTraces: 'debug' });
  return {
    ...run,
    balance: () => run.get('token/balance', { address: payer }),
    history: () => run.get('wallet/history', { address: payer }),
  };
}

describe('an unknown error of the first of two nodes', () => {
  const saying = (code: number, words: string): OddChain => ({
    blocks,
    answer: ({ method }) => (method === 'eth_chainId' ? undefined : failure(code, words)),
  });

  // Of other codes and words `judgeError` makes the same, as its tests say.
  test.for([
    [-32000, 'credits limited'],
    [3, 'execution reverted'],
  ] as const)('keeps nobody from the second: %i %s', async ([code, words], { service }) => {
    const run = await start(service, saying(code, words), whole);
    expect((await run.balance().expect(200)).body).toMatchObject({ balance: '9000000000000000000' });
    await run.follow();
    const { body, headers } = await run.history().expect(200);
    expect(body.history.result).toHaveLength(2);
    expect(headers['x-index-traces']).toBe('all');
  });

  test('leaves it alone for a while', async ({ service }) => {
    const { clients, network, nodes } = await start(service, saying(-32000, 'credits limited'), whole);
    for (let times = 0; times < 20; times += 1) await clients.for(network).getBlockNumber();
    expect(nodes[0]?.count('eth_blockNumber')).toBeLessThan(4);
  });
});

test('a node that answers one method by a status of HTTP counts as a node that works', async ({
  service,
}) => {
  const answer: OddChain['answer'] = ({ method }) => (method.includes('trace') ? { status: 403 } : undefined);
  const run = await start(service, { blocks, answer }, whole);
  await run.follow();
  expect((await run.history().expect(200)).headers['x-index-traces']).toBe('all');
  // The second node gives the traces, and nothing else.
  expect(new Set(run.nodes[1]?.methods())).toEqual(new Set(['eth_chainId', 'debug_traceBlockByHash']));
});

/** Answers one question in so much time, and reports a limit to all others. */
function limited(ms: number, how: 'status' | 'code'): OddChain {
  let last = Number.NEGATIVE_INFINITY;
  return {
    blocks,
    answer: () => {
      if (performance.now() - last < ms)
        return how === 'status' ? { status: 429 } : failure(-32005, 'in whatever words');
      last = performance.now();
      return undefined;
    },
  };
}

describe('a node that limits questions', () => {
  test('is asked no more than it allows, so that the index comes to its head', async ({ service }) => {
    const begun = performance.now();
    // Two ways to report a limit, next to each other: each waits most of the time.
    await Promise.all(
      (['status', 'code'] as const).map(async (how) => {
        const chain = { ...limited(1_000, how), blocks: blocks.slice(0, 2) };
        const run = await start(service, chain);
        const follow = () =>
          run.follow().then(
            () => 'done',
            () => 'failed',
          );
        await expect.poll(follow, { timeout: 120_000, interval: 10 }).toBe('done');
        const asked = run.nodes[0]?.methods() ?? [];
        // Three questions go out together, and three more find the pace. From then on it is that of the limit.
        expect(asked.length).toBeLessThanOrEqual(1 + (performance.now() - begun) / 1_000 + 6);
        expect(asked.filter((method) => method === 'eth_chainId').length).toBeLessThan(asked.length / 4);
        expect((await run.history().expect(200)).body.history.result).toHaveLength(1);
      }),
    );
  });

  test('is looked at all the same: what is refused of a look is asked again, and nothing else', async ({
    service,
  }) => {
    const { clients, network } = await start(service, limited(300, 'code'));
    const pool = clients.pool(network);
    const rules = { confirmations: 1, finalityDepth: 2 };
    for (let look = 0; look < 5; look += 1) expect((await pool.pin(rules)).finalized).toBe(4n);
    expect(pool.status()).toMatchObject([{ state: 'usable' }]);
  });

  test('is not asked while there is another', async ({ service }) => {
    const { clients, network, nodes } = await start(service, limited(60_000, 'code'), whole);
    for (let times = 0; times < 20; times += 1) expect(await clients.for(network).getBlockNumber()).toBe(4);
    expect(nodes[0]?.asked.length).toBeLessThan(12);
  });
});
