import { type CallTrace, flatten } from '../flat-traces.ts';
import { readFixture } from '../recorded-chain.ts';
import { type Answer, type Flaw, failure, fieldOf, hexOf, of, type Pass, resultOf } from './flaw.ts';
import { startNode, type TestNode } from './node.ts';

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

/** Blocks that a node replays, and how far it has come. */
type RecordedChain = {
  readonly source: Pass;
  /** Makes this block the newest, on top of its ancestors. */
  setHead(hash: string): void;
  add(...blocks: readonly ReplayBlock[]): void;
  /** Sets the finalized block; undefined makes the node reject the tag. */
  finalize(number: number | undefined): void;
  /** Gives the words that contracts answer to calls at a block; undefined makes the call fail. By default all fail. */
  answerCalls(answer: CallAnswer): void;
};

export type ReplayNode = TestNode & Omit<RecordedChain, 'source'>;

type CallAnswer = (
  call: { readonly to: string; readonly data: string },
  blockHash: string,
) => bigint | undefined;

type State = {
  readonly chainId: string;
  readonly blocks: Map<string, ReplayBlock>;
  /** The block hash at each height of the current branch. */
  branch: Map<bigint, string>;
  head: bigint;
  finalized: number | undefined;
  call: CallAnswer;
};

/** Starts a node that replays recorded blocks. */
export async function startReplayNode(
  chainId: string,
  blocks: readonly ReplayBlock[] = [],
): Promise<ReplayNode> {
  const { source, ...chain } = recordedChain(chainId, blocks);
  return { ...(await startNode(source)), ...chain };
}

function recordedChain(chainId: string, blocks: readonly ReplayBlock[]): RecordedChain {
  const state: State = {
    chainId,
    blocks: new Map(blocks.map((entry) => [entry.block.hash, entry])),
    branch: new Map(),
    head: -1n,
    finalized: undefined,
    call: () => undefined,
  };
  return {
    source: async ({ method, params }) => reply(state, method, params),
    setHead: (hash) => setHead(state, hash),
    add(...added) {
      for (const entry of added) state.blocks.set(entry.block.hash, entry);
    },
    finalize(number) {
      state.finalized = number;
    },
    answerCalls(answer) {
      state.call = answer;
    },
  };
}

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
  switch (method) {
    case 'eth_chainId':
      return { result: hexOf(BigInt(state.chainId)) };
    case 'eth_blockNumber':
      return { result: hexOf(state.head) };
    case 'eth_getBlockByNumber':
      return blockAnswer(state, String(first), second === true);
    case 'eth_getBlockReceipts':
      return receiptsAnswer(state, state.branch.get(BigInt(String(first))) ?? '');
    case 'eth_getTransactionReceipt':
      return { result: receiptOf(state, String(first)) };
    case 'debug_traceBlockByHash':
      return { result: state.blocks.get(String(first))?.traces ?? [] };
    case 'trace_block':
      return flatTraces(state, state.branch.get(BigInt(String(first))) ?? '');
    case 'eth_getBlockByHash':
      return { result: state.blocks.get(String(first))?.block ?? null };
    case 'eth_call':
      return callAnswer(state, first as Parameters<CallAnswer>[0], second);
    case 'eth_getCode':
      return { result: '0x' };
    default:
      return failure(-32601, `the method ${method} does not exist/is not available`);
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
  const receipts = state.blocks.get(hash)?.receipts;
  return receipts === undefined ? failure(-32000, 'unknown block') : { result: receipts };
}

/** The recorded traces, which have the form of callTracer, in that of `trace_block`. */
function flatTraces(state: State, hash: string): Answer {
  const traces = state.blocks.get(hash)?.traces ?? [];
  return { result: flatten(traces as readonly CallTrace[], hash) }; // as recorded
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

/** A node that answers "unknown block" to the next questions for the receipts of the block with this hash. */
export function deniesReceipts(hash: string, times: number): Flaw {
  let left = times;
  return of('eth_getBlockReceipts', async ({ params: [number] }, pass) => {
    const block = await pass({ method: 'eth_getBlockByNumber', params: [number, false] });
    if (fieldOf(resultOf(block), 'hash') !== hash || left === 0) return undefined;
    left -= 1;
    return failure(-32000, 'unknown block');
  });
}

/** A node without the state that the traces of this block need. */
export const pruned = ({ hash, number }: ReplayBlock['block']): Flaw =>
  of(['debug_traceBlockByHash', 'trace_block'], ({ params: [at] }) =>
    at === hash || at === number
      ? failure(-32000, 'missing trie node 5f2c (path ) state is not available')
      : undefined,
  );

/** An empty block that follows another one, so that the node is beyond that. */
export function blockAfter({ block: { number, hash } }: ReplayBlock): ReplayBlock {
  const own = `0x${((BigInt(hash) + 1n) % 2n ** 256n).toString(16).padStart(64, '0')}`;
  const next = {
    number: hexOf(BigInt(number) + 1n),
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
    transactionHash: hash,
    blockHash,
    status: '0x1',
    gasUsed: '0x0',
    contractAddress: null,
    logs: logs.filter(({ transactionHash }) => transactionHash === hash),
  };
}
