import { describe, expect } from 'vitest';
import { NodesUnavailableError } from '../../src/chain/rpc/transport/node-fault.ts';
import { createNodeBlocks } from '../../src/providers/indexer/follow/node-blocks.ts';
import { isAtAll, isError } from '../../src/providers/indexer/follow/node-error.ts';
import type { TraceMethod } from '../../src/providers/indexer/store/write/index-state-store.ts';
import { closing } from '../support/closing.ts';
import { test } from '../support/fixtures.ts';
import { of } from '../support/node/flaw.ts';
import { without } from '../support/node/limits.ts';
import { startNode, type TestNode } from '../support/node/node.ts';
import { pruned, type ReplayNode, startReplayNode } from '../support/node/replay.ts';
import { type RecordedBlock, readFixture } from '../support/recorded-chain.ts';
import { createTestIndex, dumpIndex, emptyIndex } from './index-fixture.ts';

const chainId = '1';
const startBlock = 17_686_111n;
const recorded = [17_686_111, 17_686_112, 17_686_113].map((number) =>
  readFixture<RecordedBlock>(`ethereum/${number}`),
);
const second = recorded[1]?.block.hash;
const newest = recorded.at(-1)?.block.hash ?? '';
let expected: Record<string, string[]>;
let replay: ReplayNode;
let spare: ReplayNode;
/** In front of a node that has everything. */
let node: TestNode;

test.beforeAll(async ({ database }) => {
  replay = await startReplayNode(chainId, recorded);
  replay.setHead(newest);
  const index = createTestIndex(database, replay.url, { chainId, startBlock, traceMethod: 'debug' });
  await index.follow();
  expected = await dumpIndex(database, chainId);
  index.close();
});
test.beforeEach(async ({ otherDatabase }) => {
  await emptyIndex(otherDatabase);
  node = await startNode(replay.url);
  spare = await startReplayNode(chainId, recorded);
  spare.setHead(newest);
});
test.afterEach(() => Promise.all([node.close(), spare.close()]));
test.afterAll(() => replay.close());

// Long enough for a busy machine to answer all that is not meant to be late.
const timeoutMs = 1_000;
const options = { chainId, startBlock, traceMethod: 'debug', timeoutMs } as const;
const silence = () => new Promise<undefined>(() => {});
// So many values that it cannot be read, whatever its size.
const overfull = { result: 'x'.repeat(64 * 1024 * 1024) };
const native = ({ native_sums: _sums, ...dump }: Record<string, string[]>) =>
  Object.values(dump).map((rows) => rows.filter((row) => !row.includes(String(startBlock + 1n))));

describe('what a spare node does not have', () => {
  test('is asked of the other one, also where the spare comes first', async ({ otherDatabase }) => {
    const first = closing(await startNode(spare.url));
    first.setFlaws(without('debug_traceBlockByHash', 'eth_getBlockReceipts'));
    const index = closing(createTestIndex(otherDatabase, [first.url, node.url], options));
    await index.follow();
    expect(index.untraced).toEqual([]);
    expect(await dumpIndex(otherDatabase, chainId)).toEqual(expected);
    expect(spare.count('eth_getTransactionReceipt')).toBe(0);
  });
});

describe('a block that holds more than a node gives', () => {
  test.for(['debug', 'trace'] as const)(
    'is indexed without traces that are too large: %s',
    async (traceMethod, { otherDatabase }) => {
      const isOfSecond = ([at]: readonly unknown[]) =>
        at === second || at === `0x${(startBlock + 1n).toString(16)}`;
      const method = traceMethod === 'debug' ? 'debug_traceBlockByHash' : 'trace_block';
      node.setFlaws(of(method, ({ params }) => (isOfSecond(params) ? overfull : undefined)));
      const index = closing(
        createTestIndex(otherDatabase, node.url, { ...options, traceMethod, timeoutMs: 10_000 }),
      );
      await index.follow();
      expect(index.untraced).toEqual([startBlock + 1n]);
      expect(await index.state()).toMatchObject({ untracedBlocks: 1n, head: { number: startBlock + 2n } });
      expect(native(await dumpIndex(otherDatabase, chainId))).toEqual(native(expected));
    },
  );

  test('has its receipts read one by one, and others theirs together', async ({ otherDatabase }) => {
    const at = `0x${(startBlock + 1n).toString(16)}`;
    node.setFlaws(
      of('eth_getBlockReceipts', ({ params: [number] }) => (number === at ? overfull : undefined)),
    );
    const index = closing(createTestIndex(otherDatabase, node.url, { ...options, timeoutMs: 10_000 }));
    await index.follow();
    expect(await dumpIndex(otherDatabase, chainId)).toEqual(expected);
    expect(node.count('eth_getTransactionReceipt')).toBe(133);
  });

  test('is indexed without traces that came at no try in time', async ({ otherDatabase }) => {
    let late = 0;
    node.setFlaws(
      of('debug_traceBlockByHash', ({ params: [hash] }) => {
        if (hash !== second) return undefined;
        late += 1;
        return silence();
      }),
    );
    const index = closing(createTestIndex(otherDatabase, node.url, { ...options, tries: 3 }));
    await index.follow();
    expect(late).toBe(3);
    expect(index.untraced).toEqual([startBlock + 1n]);
    expect((await index.state())?.untracedBlocks).toBe(1n);
    expect(native(await dumpIndex(otherDatabase, chainId))).toEqual(native(expected));
  });
});

describe('a node alone', () => {
  test.for(['debug', 'trace'] as const)(
    'that no longer has the traces of old blocks lets an index go on after a restart: %s',
    async (traceMethod, { otherDatabase }) => {
      spare.setHead(second ?? '');
      const before = createTestIndex(otherDatabase, spare.url, { ...options, traceMethod });
      await before.follow();
      before.close();
      spare.setFlaws(...recorded.slice(0, 2).map(({ block }) => pruned(block)));
      spare.setHead(newest);
      const after = closing(createTestIndex(otherDatabase, spare.url, { ...options, traceMethod }));
      await after.follow();
      expect(await dumpIndex(otherDatabase, chainId)).toEqual(expected);
      expect((await after.state())?.untracedBlocks).toBe(0n);
    },
  );

  test('that lost the traces of a block before it was indexed leaves out what only they tell', async ({
    otherDatabase,
  }) => {
    spare.setFlaws(...recorded.slice(1, 2).map(({ block }) => pruned(block)));
    const index = closing(createTestIndex(otherDatabase, spare.url, options));
    await index.follow();
    expect((await index.state())?.untracedBlocks).toBe(1n);
    expect(index.untraced).toEqual([startBlock + 1n]);
    expect(native(await dumpIndex(otherDatabase, chainId))).toEqual(native(expected));
  });

  test('that breaks connections now and then gives the same index', async ({ otherDatabase }) => {
    let count = 0;
    spare.setFlaws(() => {
      count += 1;
      return count % 5 === 0 ? 'drop' : undefined;
    });
    const index = closing(createTestIndex(otherDatabase, spare.url, { ...options, tries: 20 }));
    const follow = () =>
      index.follow().then(
        () => true,
        () => false,
      );
    for (let attempt = 0; attempt < 50 && !(await follow()); attempt += 1);
    expect(await dumpIndex(otherDatabase, chainId)).toEqual(expected);
  });
});

const lacks = { url: 'b', message: 'the method does not exist', code: -32601 };
const out = { url: 'a', message: 'connect ECONNREFUSED', reason: 'unreachable' } as const;
const late = { url: 'a', message: 'no answer in time', reason: 'timeout' } as const;
const full = { url: 'a', message: 'the answer is over 64 bytes', reason: 'overfull' } as const;

/** Reads the first recorded block of nodes that answer all but what fails. */
function readerOf(fails: { [method: string]: NodesUnavailableError | undefined }, traceMethod: TraceMethod) {
  const [first] = recorded;
  const clock = { ms: 0 };
  const seen: { method: string; params: readonly unknown[] }[] = [];
  const untraced: bigint[] = [];
  const answers: Record<string, unknown> = {
    eth_getBlockByNumber: first?.block,
    eth_getBlockReceipts: first?.receipts,
    debug_traceBlockByHash: first?.traces,
  };
  const blocks = createNodeBlocks({
    node: {
      async send(method, params) {
        seen.push({ method, params: [params].flat() });
        const error = fails[method];
        if (error !== undefined) throw error;
        if (method !== 'eth_getTransactionReceipt') return answers[method];
        return first?.receipts.find(({ transactionHash }) => [params].flat().includes(transactionHash));
      },
    },
    finalityDepth: 64,
    timeoutMs: 5_000,
    traceMethod,
    onUntraced: (number) => untraced.push(number),
    now: () => clock.ms,
  });
  return {
    clock,
    untraced,
    fails,
    seen,
    read: (isLastTry?: boolean) => blocks.blockAt(startBlock, isLastTry),
    takeAsked: (method: string) => seen.splice(0).filter((one) => one.method === method).length,
  };
}

const unavailable = (...attempts: ConstructorParameters<typeof NodesUnavailableError>[1]) =>
  new NodesUnavailableError(chainId, attempts);

describe('traces', () => {
  test('wait a minute for a node that is out while others have none', async () => {
    const { read, fails, clock, untraced } = readerOf(
      { debug_traceBlockByHash: unavailable(out, lacks) },
      'debug',
    );
    await expect(read(true)).rejects.toThrow('ECONNREFUSED');
    clock.ms = 59_999;
    await expect(read(true)).rejects.toThrow('ECONNREFUSED');
    clock.ms = 60_000;
    expect(await read()).toMatchObject({ traces: undefined });
    expect(untraced).toEqual([startBlock]);
    fails['debug_traceBlockByHash'] = undefined;
    expect((await read())?.traces?.size).toBeGreaterThan(0);
    fails['debug_traceBlockByHash'] = unavailable(out, lacks);
    await expect(read(true)).rejects.toThrow('ECONNREFUSED');
  });

  test.for([
    ['late at one and missing at another', unavailable(late, lacks)],
    ['late at one while another is out', unavailable(late, out)],
    ['too large at one while another is out', unavailable(full, out)],
  ] as const)('are given up at the last try only: %s', async ([, error]) => {
    const { read, untraced } = readerOf({ debug_traceBlockByHash: error }, 'debug');
    await expect(read()).rejects.toBe(error);
    expect(untraced).toEqual([]);
    expect(await read(true)).toMatchObject({ traces: undefined });
    expect(untraced).toEqual([startBlock]);
  });

  test('are given up at once where none of the nodes will ever give them', async () => {
    for (const error of [unavailable(full, full), unavailable(full, lacks)]) {
      expect(await readerOf({ debug_traceBlockByHash: error }, 'debug').read()).toMatchObject({
        traces: undefined,
      });
    }
  });

  test('are given up at the last try where all nodes answer with errors, and at once after three blocks', async () => {
    const pruned = { url: 'c', message: 'in whatever words', code: -32000 };
    const error = unavailable(pruned, lacks);
    const { read } = readerOf({ debug_traceBlockByHash: error, debug_traceBlockByNumber: error }, 'debug');
    for (const _ of [1, 2, 3]) {
      await expect(read()).rejects.toBe(error);
      expect(await read(true)).toMatchObject({ traces: undefined });
    }
    expect(await read()).toMatchObject({ traces: undefined });
  });

  test('are never given up because all nodes are out', async () => {
    const { read, clock } = readerOf({ debug_traceBlockByHash: unavailable(out, out) }, 'debug');
    await expect(read(true)).rejects.toThrow('ECONNREFUSED');
    clock.ms = 3_600_000;
    await expect(read(true)).rejects.toThrow('ECONNREFUSED');
  });

  test('have less time at the node than their question has', async () => {
    const { read, seen } = readerOf({}, 'debug');
    await read();
    const { params } = seen.find(({ method }) => method === 'debug_traceBlockByHash') ?? {};
    expect(params?.[1]).toEqual({ tracer: 'callTracer', timeout: '4s' });
  });
});

describe('the receipts of a block', () => {
  test('are asked for together again ten minutes after no node knew how', async () => {
    const { read, fails, clock, takeAsked } = readerOf({ eth_getBlockReceipts: unavailable(lacks) }, 'none');
    await read();
    expect(takeAsked('eth_getTransactionReceipt')).toBe(144);
    fails['eth_getBlockReceipts'] = undefined;
    clock.ms = 599_999;
    await read();
    expect(takeAsked('eth_getTransactionReceipt')).toBe(144);
    clock.ms = 600_000;
    await read();
    expect(takeAsked('eth_getTransactionReceipt')).toBe(0);
  });

  test('are asked for one by one at the last try, where they do not come together in time', async () => {
    const { read, takeAsked } = readerOf({ eth_getBlockReceipts: unavailable(late, lacks) }, 'none');
    await expect(read()).rejects.toThrow('no answer in time');
    expect(takeAsked('eth_getTransactionReceipt')).toBe(0);
    await read(true);
    expect(takeAsked('eth_getTransactionReceipt')).toBe(144);
  });
});

test('a node that is silent or asked too much may still have what another answers with an error', () => {
  const limited = { url: 'c', message: 'slow down', code: -32005, reason: 'limited' } as const;
  expect(isAtAll(unavailable(late, lacks), isError)).toBe(false);
  expect(isAtAll(unavailable(limited, lacks), isError)).toBe(false);
  expect(isAtAll(unavailable(lacks, lacks), isError)).toBe(true);
  expect(isAtAll(unavailable(), isError)).toBe(false);
});
