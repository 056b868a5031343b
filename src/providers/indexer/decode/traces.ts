import { type NativeMovement, zeroAddress } from './domain.ts';
import {
  addressOfWord,
  type Fields,
  fieldsOf,
  hashOf,
  listOf,
  MalformedBlockError,
  optionalQuantity,
} from './hex.ts';
import type { RawTransaction } from './raw-block.ts';

/** The decoded traces of a transaction. */
export type TraceFindings = {
  /** Whether the transaction as a whole failed; receipts before Byzantium have no status. */
  readonly failed: boolean;
  /** In the order of execution, the transaction's own value first. Reverted movements are left out. */
  readonly native: readonly NativeMovement[];
  /** What the protocol moved before and after the code ran, whether that failed or not. */
  readonly outside: readonly NativeMovement[];
  /** Whether the fee was paid in advance, by an account that has no part in this transaction. */
  readonly isPrepaid: boolean;
  /** How many calls contracts made, reverted ones too. */
  readonly calls: number;
};

/** Traces by transaction hash. A transaction that the node did not trace is missing. */
export type BlockTraces = ReadonlyMap<string, TraceFindings>;

/** The traces of a block, and what they lack; undefined where nothing is missing. */
export type FoundTraces = { readonly traces: BlockTraces; readonly missing: string | undefined };

type Traced = Pick<RawTransaction, 'hash' | 'from' | 'to' | 'gas'>;

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
  return from === zeroAddress && to === zeroAddress && gas === 0n;
}

const valueMoving = new Set(['CALL', 'CREATE', 'CREATE2', 'SELFDESTRUCT']);
// A delegated call shows a value that it does not move, a static call moves none, and CALLCODE sends to itself.
const still = new Set(['DELEGATECALL', 'STATICCALL', 'CALLCODE']);

type Entry = {
  readonly hash: string | undefined;
  readonly root: Fields | undefined;
  readonly error: string | undefined;
};

/**
 * Parses `debug_traceBlockByHash` with `callTracer`: one tree of frames per transaction. Clients wrap a tree with the
 * hash of the transaction, without it, or not at all. A trace counts for the transaction that it names. Without a
 * name it counts for the transaction at its place, where there is one trace for each and both sides fit.
 * @throws MalformedBlockError
 */
export function readCallTraces(value: unknown, transactions: readonly Traced[]): FoundTraces {
  const entries = listOf(value ?? [], 'traces').map(entryOf);
  const isForEach = entries.length === transactions.length;
  const byHash = new Map(transactions.map((transaction) => [transaction.hash, transaction]));
  const read = new Map<string, Read>();
  entries.forEach(({ hash, root, error }, place) => {
    const atPlace = isForEach && fits(root, transactions[place]) ? transactions[place] : undefined;
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

/** Returns whether a trace can belong to the transaction. An error fits every transaction. */
function fits(root: Fields | undefined, transaction: Traced | undefined): boolean {
  if (transaction === undefined || root === undefined) return transaction !== undefined;
  const isSame = (side: unknown, own: string) => typeof side === 'string' && side.toLowerCase() === own;
  return (
    isSame(root['from'], transaction.from) && (transaction.to === null || isSame(root['to'], transaction.to))
  );
}

function readRoot(root: Fields): Read {
  const native: NativeMovement[] = [];
  const inFrames = collect(root, native, false);
  const { lacks = inFrames, ...outside } = outsideOf(root);
  const findings = { failed: isFailed(root), native, ...outside, calls: countCalls(root) };
  // The transaction itself has its own value.
  return { lacks, findings: inFrames !== undefined && lackOf(root) !== undefined ? undefined : findings };
}

// Of Nitro: what the sender pays for gas, and who gets it. The receipt has the fee.
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

function countCalls(frame: Fields): number {
  const calls = listOf(frame['calls'] ?? [], 'calls');
  return calls.reduce((sum: number, call) => sum + 1 + countCalls(fieldsOf(call, 'call')), 0);
}

/** Returns what a frame does not have although its kind requires it. */
function lackOf({ type, value, from, to }: Fields): string | undefined {
  const kind = String(type).toUpperCase();
  if (typeof type !== 'string') return 'a frame has no type';
  if (still.has(kind)) return undefined;
  const amount = optionalQuantity(value, 'trace value');
  if (amount === undefined) return `a frame ${kind} has no value`;
  if (amount === 0n) return undefined;
  if (!valueMoving.has(kind)) return `${kind} is no known kind of frame`;
  const isWhole = typeof from === 'string' && typeof to === 'string' && from !== '' && to !== '';
  return isWhole ? undefined : `a frame ${kind} has no sender or recipient`;
}

/**
 * Collects movements, frame by frame. Frames are nested at most as deep as the EVM's 1024 calls. @returns what a
 * frame lacks
 */
function collect(frame: Fields, movements: NativeMovement[], internal: boolean): string | undefined {
  if (isFailed(frame)) return undefined;
  let lacks = lackOf(frame);
  const value = optionalQuantity(frame['value'], 'trace value') ?? 0n;
  if (lacks === undefined && value > 0n && valueMoving.has(String(frame['type']).toUpperCase())) {
    const from = addressOfWord(frame['from'], 'trace from');
    movements.push({ from, to: addressOfWord(frame['to'], 'trace to'), value, internal });
  }
  const calls = frame['calls'];
  if (calls === undefined || calls === null) return lacks;
  for (const call of listOf(calls, 'calls')) {
    const inside = collect(fieldsOf(call, 'call'), movements, true);
    lacks ??= inside;
  }
  return lacks;
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
  const failed: Failures = { failed: false };
  for (const { path, trace } of frames) if (isFailed(trace)) addFailure(failed, path);
  if (frames.filter(({ path }) => path.length === 0).length !== 1)
    return { lacks: 'a transaction has not one outermost frame' };
  let lacks: string | undefined;
  let isOwnKnown = true;
  const native = frames.flatMap(({ path, trace }) => {
    if (isUndone(failed, path)) return [];
    const lack = flatLackOf(trace);
    if (lack === undefined) return flatMovement(trace, path.length > 0);
    lacks ??= lack;
    if (path.length === 0) isOwnKnown = false;
    return [];
  });
  const calls = frames.filter(({ path }) => path.length > 0).length;
  const findings = { failed: failed.failed, native, outside: [], isPrepaid: false, calls };
  return { lacks, findings: isOwnKnown ? findings : undefined };
}

/** Returns the kind of a frame, and that of a call, as most clients write them. */
function kindsOf({ type, action }: Fields): { readonly kind: string; readonly callKind: string | undefined } {
  const kind = String(type).toLowerCase();
  const { callType } = typeof action === 'object' && action !== null ? fieldsOf(action, 'action') : {};
  return {
    kind: kind === 'selfdestruct' ? 'suicide' : kind,
    callKind: kind === 'call' && typeof callType === 'string' ? callType.toUpperCase() : undefined,
  };
}

/** Returns what a frame does not have although its kind requires it. */
function flatLackOf(trace: Fields): string | undefined {
  const { kind, callKind } = kindsOf(trace);
  const action = trace['action'];
  if (typeof action !== 'object' || action === null) return `a frame ${kind} has no action`;
  const { value, balance, from, to, address, refundAddress } = fieldsOf(action, 'action');
  if (kind === 'reward' || (callKind !== undefined && still.has(callKind))) return undefined;
  const amount = optionalQuantity(kind === 'suicide' ? balance : value, 'trace value');
  if (amount === undefined) return `a frame ${kind} has no value`;
  if (amount === 0n) return undefined;
  const result = trace['result'];
  const created =
    typeof result === 'object' && result !== null ? fieldsOf(result, 'trace result')['address'] : undefined;
  const sides = new Map([
    ['call', [from, to]],
    ['create', [from, created]],
    ['suicide', [address, refundAddress]],
  ]).get(kind);
  if (sides === undefined || (kind === 'call' && callKind !== 'CALL'))
    return `${kind} ${callKind ?? ''} is no known kind of frame`;
  const isWhole = sides.every((side) => typeof side === 'string' && side !== '');
  return isWhole ? undefined : `a frame ${kind} has no sender or recipient`;
}

/**
 * A frame that failed, or that has failed frames inside, by the places of their calls. There may be 40,000 of them,
 * too many to compare each frame with each other frame.
 */
type Failures = { failed: boolean; inside?: Map<unknown, Failures> };

function addFailure(root: Failures, path: readonly unknown[]): void {
  let frame = root;
  for (const place of path) {
    frame.inside ??= new Map();
    const next: Failures = frame.inside.get(place) ?? { failed: false };
    frame.inside.set(place, next);
    frame = next;
  }
  frame.failed = true;
}

/** Returns whether a frame failed or is inside a failed frame. */
function isUndone(root: Failures, path: readonly unknown[]): boolean {
  let frame: Failures | undefined = root;
  for (const place of path) {
    if (frame === undefined || frame.failed) break;
    frame = frame.inside?.get(place);
  }
  return frame?.failed === true;
}

/** @param trace a frame that lacks nothing */
function flatMovement(trace: Fields, internal: boolean): readonly NativeMovement[] {
  const { kind, callKind } = kindsOf(trace);
  const { value, balance, from, to, address, refundAddress } = fieldsOf(trace['action'], 'action');
  if (kind === 'reward' || (callKind !== undefined && still.has(callKind))) return [];
  const moved = (amount: unknown, sender: unknown, recipient: () => unknown) => {
    const value = optionalQuantity(amount, 'trace value') ?? 0n;
    if (value === 0n) return [];
    const sides = { from: addressOfWord(sender, 'trace from'), to: addressOfWord(recipient(), 'trace to') };
    return [{ ...sides, value, internal }];
  };
  if (kind === 'suicide') return moved(balance, address, () => refundAddress);
  if (kind === 'create')
    return moved(value, from, () => fieldsOf(trace['result'], 'trace result')['address']);
  return moved(value, from, () => to);
}
