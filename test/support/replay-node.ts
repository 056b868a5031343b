import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { type CallTrace, flatten } from './flat-traces.ts';
import { readFixture } from './recorded-chain.ts';

/** A block with the answers of a node about it. Reads use the hash, so several branches can coexist. */
export type ReplayBlock = {
  readonly block: {
    readonly number: string;
    readonly hash: string;
    readonly parentHash: string;
    readonly transactions: readonly { readonly hash: string }[];
  };
  readonly receipts: readonly { readonly transactionHash: string }[] | undefined;
  readonly traces: readonly unknown[] | null;
};

export type ReplayNode = {
  readonly url: string;
  /** The methods called, in order. */
  readonly asked: string[];
  /** Makes this block the newest, on top of its ancestors. */
  setHead(hash: string): void;
  add(...blocks: readonly ReplayBlock[]): void;
  /** Answers "unknown block" to the next questions for the receipts of this block. */
  deny(hash: string, times: number): void;
  /** Makes the node reject these methods as unknown. */
  lack(...methods: readonly string[]): void;
  /** Removes the state that the traces of this block need; the node reports this in one of three ways. */
  prune(hash: string, way?: PrunedAnswer): void;
  /** Sets the finalized block; undefined makes the node reject the tag. */
  finalize(number: number | undefined): void;
  /** Gives the words that contracts answer to calls at a block; undefined makes the call fail. By default all fail. */
  answerCalls(answer: CallAnswer): void;
  /** Answers a method that recordings do not have. */
  answer(method: string, result: (params: readonly unknown[]) => unknown): void;
  /** Sets a function that runs before each answer. If it throws, the connection breaks. */
  onAsk(listener: (method: string) => void): void;
  close(): Promise<void>;
};

type CallAnswer = (
  call: { readonly to: string; readonly data: string },
  blockHash: string,
) => bigint | undefined;

/** An error, an error in place of each trace, or no traces. */
type PrunedAnswer = 'error' | 'each' | 'none';

type Answer = { readonly result: unknown } | { readonly error: { code: number; message: string } };
type State = {
  readonly blocks: Map<string, ReplayBlock>;
  readonly denied: Map<string, number>;
  readonly lacking: Set<string>;
  readonly pruned: Map<string, PrunedAnswer>;
  /** The block hash at each height of the current branch. */
  branch: Map<bigint, string>;
  head: bigint;
  finalized: number | undefined;
  listener: (method: string) => void;
  call: CallAnswer;
  readonly answers: Map<string, (params: readonly unknown[]) => unknown>;
};

/** Starts a JSON-RPC node that serves recorded blocks on a free port. */
export async function startReplayNode(
  chainId: string,
  blocks: readonly ReplayBlock[] = [],
): Promise<ReplayNode> {
  const state: State = {
    blocks: new Map(blocks.map((entry) => [entry.block.hash, entry])),
    denied: new Map(),
    lacking: new Set(),
    pruned: new Map(),
    branch: new Map(),
    head: -1n,
    finalized: undefined,
    listener: () => {},
    call: () => undefined,
    answers: new Map(),
  };
  const asked: string[] = [];
  const server = createServer((request, response) => {
    const serve = async () => {
      const { id, method, params } = JSON.parse(await text(request));
      asked.push(method);
      state.listener(method);
      const answer =
        method === 'eth_chainId' ? { result: quantity(BigInt(chainId)) } : reply(state, method, params);
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ jsonrpc: '2.0', id, ...answer }));
    };
    serve().catch(() => request.socket.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  return {
    url: `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`,
    asked,
    setHead: (hash) => setHead(state, hash),
    add(...added) {
      for (const entry of added) state.blocks.set(entry.block.hash, entry);
    },
    deny: (hash, times) => void state.denied.set(hash, times),
    lack(...methods) {
      for (const method of methods) state.lacking.add(method);
    },
    prune: (hash, way = 'error') => void state.pruned.set(hash, way),
    finalize(number) {
      state.finalized = number;
    },
    answerCalls(answer) {
      state.call = answer;
    },
    answer: (method, result) => void state.answers.set(method, result),
    onAsk(listener) {
      state.listener = listener;
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const quantity = (value: bigint) => `0x${value.toString(16)}`;

function setHead(state: State, hash: string): void {
  state.branch = new Map();
  let entry = state.blocks.get(hash);
  if (entry === undefined) throw new Error(`no block ${hash} is recorded`);
  state.head = BigInt(entry.block.number);
  while (entry !== undefined) {
    state.branch.set(BigInt(entry.block.number), entry.block.hash);
    entry = state.blocks.get(entry.block.parentHash);
  }
}

function reply(state: State, method: string, params: readonly unknown[]): Answer {
  const [first, second] = params;
  const own = state.answers.get(method);
  if (own !== undefined) return { result: own(params) };
  if (state.lacking.has(method)) {
    return { error: { code: -32601, message: `the method ${method} does not exist/is not available` } };
  }
  switch (method) {
    case 'eth_blockNumber':
      return { result: quantity(state.head) };
    case 'eth_getBlockByNumber':
      return blockAnswer(state, String(first), second === true);
    case 'eth_getBlockReceipts':
      return receiptsAnswer(state, state.branch.get(BigInt(String(first))) ?? '');
    case 'eth_getTransactionReceipt':
      return { result: receiptOf(state, String(first)) };
    case 'debug_traceBlockByHash':
      return tracesAnswer(state, String(first), (traces) => traces);
    case 'trace_block':
      // The recorded traces have the form of callTracer.
      return tracesAnswer(state, state.branch.get(BigInt(String(first))) ?? '', (traces, hash) =>
        flatten(traces as readonly CallTrace[], hash),
      );
    case 'eth_getBlockByHash':
      return { result: state.blocks.get(String(first))?.block ?? null };
    case 'eth_call':
      return callAnswer(state, first as Parameters<CallAnswer>[0], second);
    case 'eth_getCode':
      return { result: '0x' };
    default:
      return { error: { code: -32601, message: `the method ${method} does not exist/is not available` } };
  }
}

/** @param at a tag, or a hash by EIP-1898 */
function callAnswer(state: State, call: Parameters<CallAnswer>[0], at: unknown): Answer {
  const named = typeof at === 'object' && at !== null && 'blockHash' in at ? String(at.blockHash) : '';
  const word = state.call(call, named);
  if (word === undefined) return { error: { code: 3, message: 'execution reverted' } };
  return { result: `0x${word.toString(16).padStart(64, '0')}` };
}

function blockAnswer(state: State, tag: string, full: boolean): Answer {
  if (tag === 'finalized' && state.finalized === undefined) {
    return { error: { code: -32602, message: 'invalid block tag' } };
  }
  const block = state.blocks.get(state.branch.get(numberOf(state, tag)) ?? '')?.block;
  if (block === undefined || full) return { result: block ?? null };
  return { result: { ...block, transactions: block.transactions.map(({ hash }) => hash) } };
}

function numberOf({ head, finalized }: State, tag: string): bigint {
  if (tag === 'latest') return head;
  return tag === 'finalized' ? BigInt(finalized ?? 0) : BigInt(tag);
}

function receiptsAnswer(state: State, hash: string): Answer {
  const left = state.denied.get(hash) ?? 0;
  const receipts = state.blocks.get(hash)?.receipts;
  if (left > 0 || receipts === undefined) {
    state.denied.set(hash, left - 1);
    return { error: { code: -32000, message: 'unknown block' } };
  }
  return { result: receipts };
}

function tracesAnswer(
  state: State,
  hash: string,
  form: (traces: readonly unknown[], hash: string) => readonly unknown[],
): Answer {
  const way = state.pruned.get(hash);
  if (way === 'none') return { result: [] };
  if (way === 'each') {
    const { transactions = [] } = state.blocks.get(hash)?.block ?? {};
    return { result: transactions.map(({ hash: txHash }) => ({ txHash, error: 'Resource not found' })) };
  }
  if (way === 'error') {
    return { error: { code: -32000, message: 'missing trie node 5f2c (path ) state is not available' } };
  }
  return { result: form(state.blocks.get(hash)?.traces ?? [], hash) };
}

function receiptOf(state: State, hash: string): unknown {
  for (const { receipts = [] } of [...state.branch.values()].flatMap(
    (name) => state.blocks.get(name) ?? [],
  )) {
    const found = receipts.find(({ transactionHash }) => transactionHash === hash);
    if (found !== undefined) return found;
  }
  return null;
}

/** An empty block that follows another one, so that the node is beyond that. */
export function blockAfter({ block: { number, hash } }: ReplayBlock): ReplayBlock {
  const own = `0x${((BigInt(hash) + 1n) % 2n ** 256n).toString(16).padStart(64, '0')}`;
  const next = {
    number: quantity(BigInt(number) + 1n),
    hash: own,
    parentHash: hash,
    timestamp: '0x70000000',
  };
  return { block: { ...next, transactions: [] }, receipts: [], traces: [] };
}

type Recording = {
  readonly chainId: number;
  readonly blocks: Readonly<Record<string, ReplayBlock['block']>>;
  readonly logs: Readonly<Record<string, readonly { readonly transactionHash: string }[]>>;
  readonly timeline: readonly {
    readonly method: string;
    readonly params: readonly [unknown];
    readonly result: string | null;
    readonly error?: { readonly message: string } | null;
  }[];
};

/** One observation of a follower: the newest block, and the blocks whose logs the node did not have. */
export type Moment = { readonly head: string; readonly denied: readonly string[] };

/**
 * Reads a recorded reorganisation. The recording has logs but no receipts: each receipt here reports success and
 * contains the logs of its transaction.
 * @param complete whether blocks whose logs the node never had get receipts without logs, so that they can be
 *   indexed
 */
export function readReorganisation(
  name: string,
  complete = false,
): {
  readonly blocks: ReplayBlock[];
  readonly moments: Moment[];
} {
  const { blocks, logs, timeline } = readFixture<Recording>(`polygon/${name}`);
  const moments: { head: string; denied: string[] }[] = [];
  for (const { method, params, result, error } of timeline) {
    // A recording may begin after the request for its first block.
    const seen = method === 'eth_getBlockByNumber' || moments.length === 0;
    if (seen && result !== null) moments.push({ head: result, denied: [] });
    const [filter] = params;
    if (typeof error === 'object' && error !== null && typeof filter === 'object' && filter !== null) {
      moments.at(-1)?.denied.push(String((filter as { blockHash?: unknown }).blockHash)); // of eth_getLogs
    }
  }
  const entries = Object.values(blocks).map((block) => {
    const own = logs[block.hash] ?? (complete ? [] : undefined);
    const receipts = own && block.transactions.map(({ hash }) => syntheticReceipt(hash, block.hash, own));
    return { block, receipts, traces: null };
  });
  return { blocks: entries, moments };
}

function syntheticReceipt(
  hash: string,
  blockHash: string,
  logs: readonly { readonly transactionHash: string }[],
) {
  return {
    ...{ transactionHash: hash, blockHash, status: '0x1', gasUsed: '0x0', contractAddress: null },
    logs: logs.filter(({ transactionHash }) => transactionHash === hash),
  };
}
