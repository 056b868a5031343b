import { zeroAddress } from '../../../chain/address.ts';
import type { NativeMovement } from './domain.ts';
import {
  addressOfWord,
  type Fields,
  fieldsOf,
  hashOf,
  listOf,
  MalformedBlockError,
  optionalQuantity,
} from './hex.ts';
import type { RawReceipt, RawTransaction } from './raw-block.ts';

/** The outermost frame of a trace: the transaction itself, as the trace has it. */
type RootFrame = {
  readonly from: unknown;
  readonly to: unknown;
  readonly value: unknown;
};

/** The decoded traces of a transaction. */
export type TraceFindings = {
  readonly root: RootFrame;
  /** Whether the transaction as a whole failed; receipts before Byzantium have no status. */
  readonly failed: boolean;
  /** In the order of execution, the transaction's own value first. Reverted movements are left out. */
  readonly native: readonly NativeMovement[];
  /** What the protocol moved before and after the code ran, whether that failed or not. */
  readonly outside: readonly NativeMovement[];
  /** Whether the fee was paid in advance, by an account that has no part in this transaction. */
  readonly isPrepaid: boolean;
  /** How many calls contracts made, also reverted calls. */
  readonly calls: number;
};

/** Traces by transaction hash. A transaction that the node did not trace is missing. */
export type BlockTraces = ReadonlyMap<string, TraceFindings>;

/** The traces of a block, and what they lack; undefined where nothing is missing. */
export type FoundTraces = { readonly traces: BlockTraces; readonly missing: string | undefined };

type Traced = Pick<RawTransaction, 'hash' | 'from' | 'to' | 'gas'>;

/**
 * Returns whether the outermost frame has the sides, the value and the outcome of the transaction and its receipt. An
 * answer that contradicts another answer does not count.
 */
export function isTraceOf(
  { root, failed }: Pick<TraceFindings, 'root' | 'failed'>,
  { from, to, value }: Pick<RawTransaction, 'from' | 'to' | 'value'>,
  { succeeded, created }: Pick<RawReceipt, 'succeeded' | 'created'>,
): boolean {
  const isSame = (side: unknown, own: string) => typeof side === 'string' && side.toLowerCase() === own;
  // A creation that failed has no address in some traces.
  const isToSame =
    to === null ? created === null || root.to == null || isSame(root.to, created) : isSame(root.to, to);
  const moved = optionalQuantity(root.value, 'trace value');
  const isValueSame = moved === undefined ? failed : moved === value;
  return isSame(root.from, from) && isToSame && isValueSame && succeeded !== failed;
}

/** The result for one transaction. `lacks` says what a frame does not have although its kind requires it. */
type Read = { readonly findings?: TraceFindings | undefined; readonly lacks?: string | undefined };

/** Joins the results and finds out whether every transaction has its own. */
function found(read: ReadonlyMap<string, Read>, transactions: readonly Traced[]): FoundTraces {
  const traces = new Map<string, TraceFindings>();
  let missing: string | undefined;
  for (const transaction of transactions) {
    const { hash } = transaction;
    const { findings, lacks } = read.get(hash) ?? {};
    if (findings !== undefined) traces.set(hash, findings);
    if (findings === undefined && !isOutside(transaction))
      missing ??= lacks ?? `no trace of transaction ${hash}`;
    else missing ??= lacks;
  }
  return { traces, missing };
}

/**
 * Returns whether a transaction stands outside the block's roots, as Polygon's state-sync transactions do. Some nodes
 * have no receipt for it, or the receipt of the other branch after a reorganisation.
 */
export function isOutside({ from, to, gas }: Pick<RawTransaction, 'from' | 'to' | 'gas'>): boolean {
  return from === zeroAddress && to === zeroAddress && (gas ?? 0n) === 0n;
}

const valueMoving = new Set(['CALL', 'CREATE', 'CREATE2', 'SELFDESTRUCT']);
// A delegated call shows a value that it does not move, a static call moves none, and CALLCODE sends to itself. Rewards
// of a block are read from the block.
const still = new Set(['DELEGATECALL', 'STATICCALL', 'CALLCODE', 'REWARD']);

type Entry = {
  readonly hash: string | undefined;
  readonly root: Fields | undefined;
  readonly error: string | undefined;
};

/**
 * Parses `debug_traceBlockByHash` with `callTracer`: one tree of frames per transaction. Clients wrap a tree with the
 * hash of the transaction, without it, or not at all. A trace counts for the transaction that it names. Without a
 * name it counts for the transaction at its place, where there is one trace for each.
 * @throws MalformedBlockError
 */
export function readCallTraces(value: unknown, transactions: readonly Traced[]): FoundTraces {
  const entries = listOf(value ?? [], 'traces').map(entryOf);
  const isForEach = entries.length === transactions.length;
  const byHash = new Map(transactions.map((transaction) => [transaction.hash, transaction]));
  const read = new Map<string, Read>();
  entries.forEach(({ hash, root, error }, place) => {
    const atPlace = isForEach ? transactions[place] : undefined;
    const transaction = hash === undefined ? atPlace : byHash.get(hash);
    if (transaction !== undefined)
      read.set(transaction.hash, root === undefined ? { lacks: error } : readRoot(root));
  });
  return found(read, transactions);
}

function entryOf(value: unknown): Entry {
  const entry = fieldsOf(value, 'trace');
  if (typeof entry['type'] === 'string') return { hash: undefined, root: entry, error: undefined };
  const { txHash, result, error } = entry;
  const hash = typeof txHash === 'string' && !/^0x0*$/.test(txHash) ? hashOf(txHash, 'txHash') : undefined;
  return {
    hash,
    root: result === null || result === undefined ? undefined : fieldsOf(result, 'trace result'),
    error: typeof error === 'string' ? error : undefined,
  };
}

function readRoot(root: Fields): Read {
  const read = readFrames(framesOf(root));
  const { lacks = read.lacks, ...outside } = outsideOf(root);
  return { lacks, findings: read.findings && { ...read.findings, ...outside } };
}

// Of Nitro: the price that the sender pays for gas, and the account that gets it. The receipt has the fee.
const purposesOfFee = new Set(['feePayment', 'feeCollection', 'gasRefund', 'prepaid']);

/** Returns what the protocol of Nitro moves before and after the code of the transaction. */
function outsideOf(root: Fields): Pick<TraceFindings, 'outside' | 'isPrepaid'> & Pick<Read, 'lacks'> {
  const lists = [root['beforeEVMTransfers'], root['afterEVMTransfers']].filter((list) => list != null);
  const transfers = lists
    .flatMap((list) => listOf(list, 'EVM transfers'))
    .map((each) => fieldsOf(each, 'transfer'));
  const isPrepaid = transfers.some(({ purpose }) => purpose === 'prepaid');
  const side = (value: unknown) =>
    value === null || value === undefined ? zeroAddress : addressOfWord(value, 'transfer');
  let lacks: string | undefined;
  const outside = transfers.flatMap(({ purpose, from, to, value }) => {
    if (purposesOfFee.has(String(purpose))) return [];
    const amount = optionalQuantity(value, 'transfer value');
    if (amount === undefined) lacks = 'a transfer of the protocol has no value';
    return amount ? [{ from: side(from), to: side(to), value: amount, internal: true }] : [];
  });
  return { outside, isPrepaid, lacks };
}

function isFailed(frame: Fields): boolean {
  return frame['error'] !== undefined && frame['error'] !== null && frame['error'] !== '';
}

/** A call, a creation or the end of a contract, in the form of any node. Its values are not checked yet. */
type Frame = {
  /** As `callTracer` writes it, in upper case; empty where the node gives none. */
  readonly kind: string;
  readonly value: unknown;
  readonly from: unknown;
  readonly to: unknown;
  /** Whether it is the transaction itself. */
  readonly isOutermost: boolean;
  /** Whether it failed or is inside a frame that failed. */
  readonly isUndone: boolean;
};

/** Returns the frames of a tree in the order of execution. They are nested at most as deep as the EVM's 1024 calls. */
function framesOf(root: Fields): Frame[] {
  const frames: Frame[] = [];
  const add = (frame: Fields, isOutermost: boolean, isInFailed: boolean): void => {
    const { type, value, from, to } = frame;
    const isUndone = isInFailed || isFailed(frame);
    const kind = typeof type === 'string' ? type.toUpperCase() : '';
    frames.push({ kind, value, from, to, isOutermost, isUndone });
    for (const call of listOf(frame['calls'] ?? [], 'calls')) add(fieldsOf(call, 'call'), false, isUndone);
  };
  add(root, true, false);
  return frames;
}

/** @param frames with the outermost frame */
function readFrames(frames: readonly Frame[]): Read {
  const native: NativeMovement[] = [];
  let lacks: string | undefined;
  // The transaction itself has its own value.
  let isOwnKnown = true;
  for (const frame of frames) {
    if (frame.isUndone) continue;
    const lack = lackOf(frame);
    lacks ??= lack;
    if (lack === undefined) native.push(...movementOf(frame));
    else if (frame.isOutermost) isOwnKnown = false;
  }
  const { from, to, value, isUndone: failed = false } = frames.find(({ isOutermost }) => isOutermost) ?? {};
  const root = { from, to, value };
  const findings = { root, failed, native, outside: [], isPrepaid: false, calls: frames.length - 1 };
  return { lacks, findings: isOwnKnown ? findings : undefined };
}

/** Returns what a frame does not have although its kind requires it. */
function lackOf({ kind, value, from, to }: Frame): string | undefined {
  if (kind === '') return 'a frame has no type';
  if (still.has(kind)) return undefined;
  const amount = optionalQuantity(value, 'trace value');
  if (amount === undefined) return `a frame ${kind} has no value`;
  if (amount === 0n) return undefined;
  if (!valueMoving.has(kind)) return `${kind} is no known kind of frame`;
  const isWhole = [from, to].every((side) => typeof side === 'string' && side !== '');
  return isWhole ? undefined : `a frame ${kind} has no sender or recipient`;
}

/** @param frame lacks nothing */
function movementOf({ kind, value, from, to, isOutermost }: Frame): NativeMovement[] {
  const amount = still.has(kind) ? 0n : (optionalQuantity(value, 'trace value') ?? 0n);
  if (amount === 0n) return [];
  const sides = { from: addressOfWord(from, 'trace from'), to: addressOfWord(to, 'trace to') };
  return [{ ...sides, value: amount, internal: !isOutermost }];
}

/** A frame of `trace_block`. */
type FlatFrame = {
  /** The places of the calls that lead to it; empty for the transaction itself. */
  readonly path: readonly unknown[];
  readonly trace: Fields;
};

/**
 * Parses `trace_block`: a flat list of frames, each with its path and its transaction, by hash or by position.
 * @param blockHash of the expected block; the request names only its number
 * @throws MalformedBlockError
 */
export function readFlatTraces(
  value: unknown,
  blockHash: string,
  transactions: readonly Traced[],
): FoundTraces {
  const frames = new Map<string, FlatFrame[]>();
  let stray: string | undefined;
  for (const entry of listOf(value ?? [], 'traces')) {
    const trace = fieldsOf(entry, 'trace');
    const { blockHash: of = blockHash } = trace;
    if (of !== blockHash && hashOf(of, 'trace blockHash') !== blockHash)
      throw new MalformedBlockError('trace blockHash', of);
    const hash = ownerOf(trace, transactions);
    // Rewards of the block itself belong to no transaction.
    if (hash === undefined && trace['type'] !== 'reward')
      stray ??= 'a frame names no transaction of the block';
    if (hash === undefined) continue;
    const own = frames.get(hash) ?? [];
    frames.set(hash, own);
    own.push({ path: listOf(trace['traceAddress'] ?? [], 'traceAddress'), trace });
  }
  const { traces, missing } = found(
    new Map([...frames].map(([hash, own]) => [hash, readFlat(own)])),
    transactions,
  );
  return { traces, missing: missing ?? stray };
}

/** Returns the hash of the transaction that a frame belongs to. */
function ownerOf(trace: Fields, transactions: readonly Traced[]): string | undefined {
  const { transactionHash: hash, transactionPosition: position } = trace;
  if (typeof hash === 'string' && !/^0x0*$/.test(hash)) return hashOf(hash, 'transactionHash');
  const place = typeof position === 'number' ? position : optionalQuantity(position, 'transactionPosition');
  return place === undefined ? undefined : transactions[Number(place)]?.hash;
}

function readFlat(frames: readonly FlatFrame[]): Read {
  if (frames.filter(({ path }) => path.length === 0).length !== 1)
    return { lacks: 'a transaction has not one outermost frame' };
  // A frame may come before the frame that contains it.
  const undone = new Set<string>();
  for (const { path, trace } of frames.toSorted((a, b) => a.path.length - b.path.length)) {
    if (isFailed(trace) || (path.length > 0 && undone.has(path.slice(0, -1).join()))) undone.add(path.join());
  }
  return readFrames(
    frames.map(({ path, trace }) => ({
      ...partsOf(trace),
      isOutermost: path.length === 0,
      isUndone: undone.has(path.join()),
    })),
  );
}

function partsOf({ type, action, result }: Fields): Pick<Frame, 'kind' | 'value' | 'from' | 'to'> {
  const { callType, value, balance, from, to, address, refundAddress } = optionalFields(action);
  const kind = String(type).toUpperCase();
  switch (kind) {
    case 'CALL':
      return { kind: typeof callType === 'string' ? callType.toUpperCase() : 'call', value, from, to };
    case 'CREATE':
      return { kind, value, from, to: optionalFields(result)['address'] };
    case 'SUICIDE':
    case 'SELFDESTRUCT':
      return { kind: 'SELFDESTRUCT', value: balance, from: address, to: refundAddress };
    default:
      return { kind, value, from, to };
  }
}

const optionalFields = (value: unknown): Fields =>
  typeof value === 'object' && value !== null ? fieldsOf(value, 'trace') : {};
