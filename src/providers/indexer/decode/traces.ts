import type { NativeMovement } from './domain.ts';
import {
  addressOf,
  type Fields,
  fieldsOf,
  hashOf,
  listOf,
  MalformedBlockError,
  optionalQuantity,
} from './hex.ts';

/** The decoded traces of a transaction. */
export type TraceFindings = {
  /** Whether the transaction as a whole failed; receipts before Byzantium have no status. */
  readonly failed: boolean;
  /** In the order of execution, the transaction's own value first. Reverted ones are left out. */
  readonly native: readonly NativeMovement[];
  /** How many calls contracts made, reverted ones too. */
  readonly calls: number;
};

/** By transaction hash. A transaction that the node did not trace is missing. */
export type BlockTraces = ReadonlyMap<string, TraceFindings>;

// A delegated call shows a value that it does not move, a static call moves none, and CALLCODE sends to itself.
const valueMoving = new Set(['CALL', 'CREATE', 'CREATE2', 'SELFDESTRUCT']);

/**
 * Parses `debug_traceBlockByHash` with `callTracer`: one tree of frames per transaction.
 * @throws MalformedBlockError
 */
export function readCallTraces(value: unknown): BlockTraces {
  const found = listOf(value, 'traces').flatMap((entry): [string, TraceFindings][] => {
    const { txHash, result } = fieldsOf(entry, 'trace');
    if (typeof txHash !== 'string' || result === null || result === undefined) return [];
    const root = fieldsOf(result, 'trace result');
    const native: NativeMovement[] = [];
    collect(root, native, false);
    return [[hashOf(txHash, 'txHash'), { failed: isFailed(root), native, calls: countCalls(root) }]];
  });
  return new Map(found);
}

/**
 * Why the traces of a block with transactions are incomplete: a node without the state of a block answers with an
 * error in place of each trace, or with no traces.
 */
export function missingTraces(value: unknown): string | undefined {
  const traces = listOf(value, 'traces');
  if (traces.length === 0) return 'the list of traces is empty';
  for (const entry of traces) {
    const { result, error, action } = fieldsOf(entry, 'trace');
    // A frame of `trace_block` has an action, and an error where the call failed.
    if (result == null && action === undefined && typeof error === 'string') return error;
  }
  return undefined;
}

function isFailed(frame: Fields): boolean {
  return frame['error'] !== undefined && frame['error'] !== null && frame['error'] !== '';
}

function countCalls(frame: Fields): number {
  const calls = listOf(frame['calls'] ?? [], 'calls');
  return calls.reduce((sum: number, call) => sum + 1 + countCalls(fieldsOf(call, 'call')), 0);
}

/** Recursive: frames are nested at most as deep as the EVM's 1024 calls. */
function collect(frame: Fields, found: NativeMovement[], internal: boolean): void {
  if (isFailed(frame)) return;
  const value = optionalQuantity(frame['value'], 'trace value') ?? 0n;
  if (value > 0n && valueMoving.has(String(frame['type']).toUpperCase())) {
    const from = addressOf(frame['from'], 'trace from');
    found.push({ from, to: addressOf(frame['to'], 'trace to'), value, internal });
  }
  const calls = frame['calls'];
  if (calls === undefined || calls === null) return;
  for (const call of listOf(calls, 'calls')) collect(fieldsOf(call, 'call'), found, true);
}

/** A frame of `trace_block`. */
type FlatFrame = {
  /** The places of the calls that lead to it; empty for the transaction itself. */
  readonly path: readonly unknown[];
  readonly trace: Fields;
};

/**
 * Parses `trace_block`: a flat list of frames, each with its path.
 * @param blockHash of the expected block; the request names only its number
 * @throws MalformedBlockError
 */
export function readFlatTraces(value: unknown, blockHash: string): BlockTraces {
  const found = new Map<string, FlatFrame[]>();
  for (const entry of listOf(value, 'traces')) {
    const trace = fieldsOf(entry, 'trace');
    const { blockHash: of = blockHash } = trace;
    if (of !== blockHash && hashOf(of, 'trace blockHash') !== blockHash)
      throw new MalformedBlockError('trace blockHash', of);
    // Rewards of the block itself belong to no transaction.
    if (typeof trace['transactionHash'] !== 'string') continue;
    const hash = hashOf(trace['transactionHash'], 'transactionHash');
    const frames = found.get(hash) ?? [];
    found.set(hash, frames);
    frames.push({ path: listOf(trace['traceAddress'], 'traceAddress'), trace });
  }
  return new Map([...found].map(([hash, frames]) => [hash, flatFindings(frames)]));
}

function flatFindings(frames: readonly FlatFrame[]): TraceFindings {
  const failed: Failures = { failed: false };
  for (const { path, trace } of frames) if (isFailed(trace)) addFailure(failed, path);
  return {
    failed: failed.failed,
    native: frames.flatMap(({ path, trace }) =>
      isUndone(failed, path) ? [] : flatMovement(trace, path.length > 0),
    ),
    calls: frames.filter(({ path }) => path.length > 0).length,
  };
}

/**
 * A frame that failed, or that has failed ones inside, by the places of their calls. There may be 40,000 of them, with
 * which no other frame can be compared one by one.
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

/** Whether a frame failed or is inside one that did. */
function isUndone(root: Failures, path: readonly unknown[]): boolean {
  let frame: Failures | undefined = root;
  for (const place of path) {
    if (frame === undefined || frame.failed) break;
    frame = frame.inside?.get(place);
  }
  return frame?.failed === true;
}

function flatMovement(trace: Fields, internal: boolean): readonly NativeMovement[] {
  const action = fieldsOf(trace['action'], 'action');
  const kind = String(trace['type']);
  if (kind === 'call' && action['callType'] !== 'call') return [];
  const value = optionalQuantity(action[kind === 'suicide' ? 'balance' : 'value'], 'trace value') ?? 0n;
  if (value === 0n) return [];
  const from = addressOf(action[kind === 'suicide' ? 'address' : 'from'], 'trace from');
  if (kind === 'call') return [{ from, to: addressOf(action['to'], 'trace to'), value, internal }];
  if (kind === 'suicide') {
    return [{ from, to: addressOf(action['refundAddress'], 'refundAddress'), value, internal }];
  }
  if (kind !== 'create') return [];
  const created = fieldsOf(trace['result'], 'trace result')['address'];
  return [{ from, to: addressOf(created, 'created address'), value, internal }];
}
