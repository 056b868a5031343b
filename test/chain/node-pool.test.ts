import { afterAll, afterEach, beforeEach, describe, expect, vi } from 'vitest';
import { createLogger } from '../../src/base/log.ts';
import { inScope } from '../../src/base/request-scope.ts';
import { createRpcClients, type RpcClients } from '../../src/chain/rpc/client/rpc-clients.ts';
import type { PinnedNode } from '../../src/chain/rpc/pool/pinned-node.ts';
import { callNode } from '../support/deploy.ts';
import { test } from '../support/fixtures.ts';
import { testNetwork } from '../support/networks.ts';
import { type Flaw, resultOf } from '../support/node/flaw.ts';
import { noFinalized } from '../support/node/limits.ts';
import { startNode, type TestNode } from '../support/node/node.ts';
import { waitFor } from '../support/wait-for.ts';

let nodes: TestNode[];
let clients: RpcClients;
let clock: number;
// What a lane stores of the looks before.
let known: PinnedNode['lasting'];

test.beforeAll(async ({ chain }) => {
  await callNode(chain.rpcUrl, 'anvil_mine', ['0x50']);
  nodes = await Promise.all([1, 2, 3].map(() => startNode(chain.rpcUrl)));
});
afterAll(async () => {
  for (const node of nodes) await node.close();
});
beforeEach(() => {
  clock = 0;
  open();
});
afterEach(() => {
  clients.close();
  for (const node of nodes) {
    node.setFlaws();
    node.takeMethods();
  }
});

/** Opens clients that know nothing, in place of those before. */
function open(finalityNodes?: number, timeoutMs = 2_000, log = createLogger({ level: 'silent' })): void {
  known = undefined;
  clients?.close();
  clients = createRpcClients({ timeoutMs, log, finalityNodes, now: () => clock });
}
const rules = { confirmations: 2, finalityDepth: 64 };
const networkOf = (count: number) =>
  testNetwork(
    nodes.slice(0, count).map(({ url }) => url),
    rules,
  );
async function pin(count = 2): Promise<PinnedNode> {
  const pinned = await clients.pool(networkOf(count)).pin({ ...rules, known });
  if ((pinned.lasting?.number ?? -1n) > (known?.number ?? -1n)) known = pinned.lasting;
  return pinned;
}
const statesOf = (count = 2) =>
  clients
    .pool(networkOf(count))
    .status()
    .map(({ state }) => state);
const node = (index: number): TestNode => nodes[index] ?? expect.fail();

/** Another chain from this block on, as far as numbers and hashes go. */
const forksAt =
  (from: bigint, headAt?: bigint): Flaw =>
  (call, pass) => {
    if (call.method !== 'eth_getBlockByNumber') return undefined;
    const isLatest = call.params[0] === 'latest' && headAt !== undefined;
    const asked = isLatest ? { ...call, params: [`0x${headAt.toString(16)}`, false] } : call;
    return pass(asked).then((answer) => {
      const block = resultOf(answer) as { number: string; hash: string } | null; // as documented
      if (block === null || BigInt(block.number) < from) return answer;
      return { result: { ...block, hash: `0x${'ab'.repeat(32)}` } };
    });
  };

describe('a look', () => {
  test('asks each node a few questions, and chooses the first one that can be used', async () => {
    const { label } = await pin();
    expect(label).toBe(node(0).url);
    for (const each of nodes.slice(0, 2)) expect(each.takeMethods().length).toBeLessThanOrEqual(5);
    await pin();
    for (const each of nodes.slice(0, 2)) expect(each.takeMethods().length).toBeLessThanOrEqual(3);
  });

  test('goes on for others when the one who asked first has left', async () => {
    const left = new AbortController();
    const onAway = vi.fn();
    const scope = { tenant: 'acme', signal: left.signal, isRead: true, onAway };
    const first = inScope(scope, () => pin());
    const second = pin();
    left.abort(new Error('gone'));
    await expect(second).resolves.toMatchObject({ disagreement: undefined });
    expect(onAway).toHaveBeenCalled();
    await first;
  });

  test('is shared by those who ask at the same time', async () => {
    await Promise.all([pin(1), pin(1), pin(1)]);
    expect(node(0).count('eth_chainId')).toBe(1);
  });

  test('chooses another when it was told that this one refuses something, and goes back after minutes', async () => {
    const first = await pin();
    first.preferOthers();
    const second = await pin();
    expect(second.label).toBe(node(1).url);
    clock += 1_000;
    second.preferOthers();
    expect((await pin()).label).toBe(node(0).url);
    clock += 10 * 60_000;
    second.preferOthers();
    expect((await pin()).label).toBe(node(0).url);
  });

  test('waits for a node that hangs only once', async () => {
    // Long enough for the other one on a machine with other work.
    open(undefined, 1_000);
    node(0).setFlaws(() => 'hang');
    const begun = performance.now();
    expect((await pin()).label).toBe(node(1).url);
    expect(performance.now() - begun).toBeGreaterThan(990);
    for (let round = 0; round < 5; round += 1) {
      clock += 60_000;
      const again = performance.now();
      expect((await pin()).label).toBe(node(1).url);
      expect(performance.now() - again).toBeLessThan(990);
    }
    // Minutes have passed without a new block.
    expect(statesOf()).toEqual(['failing', 'standing']);
  });

  test('leaves a node of another chain until it is right again', async () => {
    node(0).setFlaws(({ method }) => (method === 'eth_chainId' ? { result: '0x1' } : undefined));
    expect((await pin()).label).toBe(node(1).url);
    expect(statesOf()).toEqual(['foreign', 'usable']);
    expect((await pin()).broadcasters).toHaveLength(1);
    node(0).setFlaws();
    expect((await pin()).label).toBe(node(0).url);
  });

  test('rejects when no node serves the chain', async () => {
    node(0).setFlaws(({ method }) => (method === 'eth_chainId' ? { result: '0x1' } : undefined));
    await expect(pin(1)).rejects.toThrow(/it serves chain 1, not 31337/);
  });
});

describe('a pinned node', () => {
  test('is the only one that is asked, and the next look chooses another when it failed', async () => {
    const pinned = await pin();
    node(1).takeMethods();
    node(0).setFlaws(({ method }) =>
      method === 'eth_gasPrice' ? Promise.resolve({ error: { code: -32603, message: 'broken' } }) : undefined,
    );
    await expect(pinned.provider.send('eth_gasPrice', [])).rejects.toThrow('broken');
    expect(node(1).takeMethods()).toEqual([]);
    expect((await pin()).label).toBe(node(1).url);
    clock += 10 * 60_000;
    expect((await pin()).label).toBe(node(0).url);
  });

  test('does not answer from another chain that its URL has come to lead to', async () => {
    const { provider } = await pin(1);
    await provider.send('eth_getTransactionCount', [`0x${'1'.repeat(40)}`, 'latest']);
    node(0).setFlaws(({ method }) => (method === 'eth_chainId' ? { result: '0x1' } : undefined));
    await expect(provider.send('eth_getTransactionCount', [`0x${'1'.repeat(40)}`, 'latest'])).rejects.toThrow(
      /serves chain 1, not 31337/,
    );
  });
});

describe('what is final', () => {
  const tag =
    (number: bigint): Flaw =>
    (call, pass) =>
      call.method === 'eth_getBlockByNumber' && call.params[0] === 'finalized'
        ? pass({ ...call, params: [`0x${number.toString(16)}`, false] })
        : undefined;

  test('is what two of two nodes agree on, and never goes back', async () => {
    node(0).setFlaws(tag(40n));
    node(1).setFlaws(tag(30n));
    expect((await pin()).finalized).toBe(30n);
    await pin();
    node(1).setFlaws(tag(20n));
    expect((await pin()).finalized).toBe(30n);
  });

  test('is the second highest of three, and one alone where the setting says so', async () => {
    for (const [index, number] of [40n, 30n, 20n].entries()) node(index).setFlaws(tag(number));
    expect((await pin(3)).finalized).toBe(30n);
    open(1);
    expect((await pin(3)).finalized).toBe(40n);
  });

  test('goes by the depth of a node that has no such block', async () => {
    node(0).setFlaws(noFinalized('not found'));
    expect((await pin(1)).finalized).toBe(16n);
  });

  test('is unknown while too few nodes can say, and that is told once it lasts', async () => {
    node(0).setFlaws(noFinalized('status 429'));
    const why =
      '2 node(s) must agree on what is final (RPC_FINALITY_NODES), and only 1 can say. ' +
      `${node(0).url} does not say what is final.`;
    expect(await pin()).toMatchObject({ finalized: -1n, finalityUnknown: { why, isLasting: false } });
    clock += 5_000;
    expect(await pin()).toMatchObject({ finalityUnknown: { why, isLasting: true } });
  });

  /** A node whose newest and final block is this one, which no chain has come to. */
  const headAt =
    (number: bigint): Flaw =>
    (call, pass) =>
      call.method === 'eth_getBlockByNumber'
        ? pass({ ...call, params: ['latest', false] }).then((answer) => ({
            result: { ...(resultOf(answer) as object), number: `0x${number.toString(16)}` },
          }))
        : undefined;

  /** A node on another chain, of which block 50 is final. */
  const forkFinal: Flaw = (call, pass) =>
    forksAt(40n, 60n)(call.params[0] === 'finalized' ? { ...call, params: ['0x32', false] } : call, pass);

  test.each([
    ['far above all that it has', headAt(0xff_ff_ffn)],
    ['that its chain has otherwise', forkFinal],
  ])('is not for good what the only node reported at one look: a block %s', async (_where, lie) => {
    for (const before of [[], [tag(10n)]]) {
      open();
      node(0).setFlaws(...before);
      for (let look = 0; before.length > 0 && look < 3; look += 1) {
        expect((await pin(1)).finalized).toBe(10n);
        clock += 5_000;
      }
      node(0).setFlaws(lie);
      await pin(1);
      node(0).setFlaws(tag(20n));
      await pin(1);
      expect(await pin(1)).toMatchObject({
        finalized: 20n,
        finalityUnknown: undefined,
        rolledBack: undefined,
      });
      expect(known?.number).toBe(20n);
    }
  });

  test('contradicts every node whose chain ends below it for some seconds', async () => {
    node(0).setFlaws(headAt(0xfffn));
    await pin(1);
    await pin(1);
    node(0).setFlaws();
    const why = 'Block 4095 was final, and no node has come to it.';
    expect(await pin(1)).toMatchObject({ finalityUnknown: { why, isLasting: false }, rolledBack: undefined });
    clock += 5_000;
    for (let look = 0; look < 3; look += 1) {
      expect((await pin(1)).rolledBack).toMatch(
        /^Block 4095, 0x[0-9a-f]{64}, was final, and no node has come to it: /,
      );
    }
  });

  test('contradicts every node whose chain has another block there, until one has it again', async () => {
    node(0).setFlaws(tag(40n));
    node(1).setFlaws(tag(40n));
    await pin();
    await pin();
    expect(known?.number).toBe(40n);
    for (const index of [0, 1]) node(index).setFlaws(forksAt(30n));
    const pinned = await pin();
    expect(pinned.rolledBack).toBe(
      `Block 40, ${known?.hash}, was final, and ${node(0).url} has 0x${'ab'.repeat(32)} there: ` +
        'the chain was rolled back, or started again.',
    );
    expect(pinned.lasting).toBeUndefined();
    node(1).setFlaws(tag(40n));
    expect(await pin()).toMatchObject({ label: node(1).url, rolledBack: undefined, finalized: 40n });
    expect(statesOf()).toEqual(['forked', 'usable']);
  });

  test('stays what was stored though its node fails and the other is behind', async () => {
    open(1);
    node(0).setFlaws(tag(75n));
    node(1).setFlaws(forksAt(1_000n, 70n));
    await pin();
    expect((await pin()).finalized).toBe(75n);
    node(0).setFlaws(() => Promise.resolve({ status: 500 }));
    const why = 'Block 75 was final, and no node has come to it.';
    for (let look = 0; look < 3; look += 1) {
      const pinned = await pin();
      expect(pinned).toMatchObject({
        finalized: -1n,
        finalityUnknown: { why: expect.stringContaining(why) },
      });
      clock += 5_000;
    }
    expect((await pin()).rolledBack).toContain(`${node(0).url} is failing.`);
  });

  test('is the newest block of a node that stays behind it, as far as others have that in its past', async () => {
    node(0).setFlaws(forksAt(1_000n, 70n));
    for (const index of [1, 2]) node(index).setFlaws(tag(75n));
    expect(await pin(3)).toMatchObject({ label: node(0).url, finalized: 70n });
    expect((await pin(3)).lasting?.number).toBe(70n);
    open();
    node(0).setFlaws(forksAt(60n, 70n));
    await pin(3);
    expect(await pin(3)).toMatchObject({ label: node(0).url, finalized: -1n, lasting: undefined });
  });

  test('takes a node out of use that contradicts it', async () => {
    for (const [index, number] of [40n, 40n, 20n].entries()) node(index).setFlaws(tag(number));
    await pin(3);
    await pin(3);
    node(0).setFlaws(forksAt(30n));
    expect((await pin(3)).label).toBe(node(1).url);
    expect(statesOf(3)).toEqual(['forked', 'usable', 'usable']);
    node(0).setFlaws();
    await pin(3);
    expect((await pin(3)).label).toBe(node(0).url);
  });
});

describe('a disagreement', () => {
  test('below the confirmations names nodes and block; one at the newest block is none', async () => {
    node(1).setFlaws(forksAt(80n));
    expect((await pin()).disagreement).toBeUndefined();
    // Blocks below a newest block that is still the same are not asked for again.
    open();
    node(1).setFlaws(forksAt(79n));
    const { disagreement } = await pin();
    expect(disagreement).toMatch(
      new RegExp(
        `^Nodes disagree on block 79: 0x[0-9a-f]{64} at ${node(0).url}; 0x(ab){32} at ${node(1).url}.$`,
      ),
    );
  });

  test('goes on while one of the two fails, but not for ever', async () => {
    node(0).setFlaws(forksAt(79n));
    await pin();
    node(1).setFlaws(() => Promise.resolve({ status: 500 }));
    expect((await pin()).disagreement).toMatch('Nodes disagree on block 79');
    clock += 5 * 60_000 + 1;
    expect((await pin()).disagreement).toBeUndefined();
  });
});

test('a node that tells of a block that no chain has is not believed, and leaves the others in use', async () => {
  node(2).setFlaws((call, pass) =>
    call.method === 'eth_getBlockByNumber'
      ? pass(call).then((answer) => ({
          result: { ...(resultOf(answer) as object), number: `0x1${'0'.repeat(50)}` },
        }))
      : undefined,
  );
  for (let look = 0; look < 5; look += 1) {
    await pin(3);
    clock += 5_000;
  }
  expect(statesOf(3)).toEqual(['usable', 'usable', 'failing']);
  expect((await pin(3)).label).toBe(node(0).url);
});

describe('a node that stays behind', () => {
  test('is left once that has lasted, also while the other fails, and used again when it has caught up', async () => {
    // So that a minute without a block is none to speak of.
    open(undefined, 5_000);
    node(0).setFlaws(forksAt(1_000n, 70n));
    for (let look = 0; look < 4; look += 1) {
      await pin();
      expect(statesOf()).toEqual(['usable', 'usable']);
      clock += 15_000;
    }
    expect((await pin()).label).toBe(node(1).url);
    expect(statesOf()).toEqual(['lagging', 'usable']);
    node(1).setFlaws(() => Promise.resolve({ status: 500 }));
    await expect(pin()).rejects.toThrow(/at block 70, 10 behind another node/);
    node(1).setFlaws();
    node(0).setFlaws();
    expect((await pin()).label).toBe(node(0).url);
  });

  test('by what is normal is no fault', async () => {
    node(0).setFlaws(forksAt(1_000n, 78n));
    for (let look = 0; look < 10; look += 1) {
      await pin();
      clock += 700;
    }
    expect(statesOf()).toContain('usable');
    expect((await pin()).label).toBe(node(0).url);
  });

  test('without end, by every node, is told of the one that is used all the same', async () => {
    const lines: string[] = [];
    // A network where nothing happens may make no blocks, so nothing of it is a warning.
    const log = createLogger({ level: 'info', destination: { write: (line) => lines.push(line) } });
    open(undefined, undefined, log);
    expect((await pin(1)).standing).toBeUndefined();
    for (let look = 0; look < 3; look += 1) {
      clock += 100_000;
      await pin(1);
    }
    expect((await pin(1)).standing).toMatch(/^block \d+ is its newest since \d{4}-/);
    expect(statesOf(1)).toEqual(['standing']);
    await callNode(node(0).url, 'anvil_mine', ['0x1']);
    expect((await pin(1)).standing).toBeUndefined();
    expect(lines.map((line) => JSON.parse(line)).map(({ level, msg }) => [level, msg])).toEqual([
      ['info', 'node shows no new block'],
      ['info', 'node can be used again'],
    ]);
  });

  test('that leads to another chain between two looks gives no balance to those who fail over', async () => {
    const client = clients.for(networkOf(2));
    await client.send('eth_getBalance', [`0x${'1'.repeat(40)}`, 'latest']);
    node(0).setFlaws(({ method }) => {
      if (method === 'eth_chainId') return { result: '0x1' };
      return method === 'eth_getBalance' ? Promise.resolve({ result: '0x5' }) : undefined;
    });
    expect(await client.send('eth_getBalance', [`0x${'1'.repeat(40)}`, 'latest'])).toBe('0x0');
    expect(node(1).takeMethods()).toContain('eth_getBalance');
  });

  test('is asked for its chain after answers, once for all that come meanwhile', async () => {
    const count = 20;
    const read = () => clients.for(networkOf(1)).send('eth_getBalance', [`0x${'1'.repeat(40)}`, 'latest']);
    await read();
    node(0).forget();
    const released = Promise.withResolvers<void>();
    let balances = 0;
    node(0).setFlaws(async (call, pass) => {
      if (call.method === 'eth_chainId') await released.promise;
      const answer = await pass(call);
      if (call.method === 'eth_getBalance') balances += 1;
      return answer;
    });
    const reads = Promise.all(Array.from({ length: count }, read));
    await waitFor(() => expect(balances).toBe(count));
    released.resolve();
    await reads;
    // The first check, the one after it, and one more where an answer takes longer than both.
    expect(node(0).count('eth_chainId')).toBeLessThanOrEqual(3);
  });

  test('is not asked by those who fail over, while the other is there', async () => {
    const client = clients.for(networkOf(2));
    node(0).setFlaws(forksAt(1_000n, 70n));
    await waitFor(async () => {
      clock += 20_000;
      await client.send('eth_gasPrice', []);
      await clients.pool(networkOf(2)).look();
      expect(statesOf()[0]).toBe('lagging');
    });
    node(0).takeMethods();
    await client.send('eth_gasPrice', []);
    expect(node(0).takeMethods()).not.toContain('eth_gasPrice');
  });
});
