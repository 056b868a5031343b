import { zeroAddress } from '../../../chain/address.ts';
import type { BlockLogs } from './block-logs.ts';
import type { NativeMovement } from './domain.ts';
import { topicAddress, wordAt } from './log-words.ts';
import type { RawLog, RawTransaction } from './raw-block.ts';
import { mintingPrecompile, nativeLogEmitter, stateSyncContract, topics } from './topics.ts';

/** What the contract of the native asset logged of a transaction, without the fee. */
export type NativeLogs = {
  readonly movements: readonly NativeMovement[];
  /** The account that paid the fee, where the logs show it. */
  readonly payer?: string | undefined;
};

type Settings = Pick<BlockLogs, 'nativeAsset'>;

/** @param paid the sender of the transaction, and what its gas cost */
export function nativeLogsOf(
  logs: readonly RawLog[],
  { nativeAsset }: Settings,
  paid: { readonly sender: string; readonly cost: bigint | null },
): NativeLogs {
  if (nativeAsset === null) return { movements: none };
  const movements = logs
    .filter((log) => isNativeLog(log, nativeAsset) && log.topics.length === 3)
    .map(movementOf);
  return withoutFee(movements, paid.sender, paid.cost);
}

const none: readonly never[] = [];

/**
 * Returns what the protocol mints, which no frame shows: deposits of zkSync, and the precompile of Subnet-EVM. Nobody
 * else can log at these addresses.
 */
export function mintedByLogs(logs: readonly RawLog[], { nativeAsset }: Settings): NativeMovement[] {
  return logs.flatMap((log) => {
    const { address, topics: of, data } = log;
    const isMint = address === nativeAsset && of[0] === topics.nativeMint && of.length === 2;
    const isPrecompile = address === mintingPrecompile && of[0] === topics.precompileMint && of.length === 3;
    if ((!isMint && !isPrecompile) || data.length !== 66) return [];
    const to = topicAddress(log, of.length - 1);
    return [{ from: zeroAddress, to, value: wordAt(log, 0), internal: true }];
  });
}

type Known = {
  readonly transaction: RawTransaction;
  /** The transaction's own value. */
  readonly own: readonly NativeMovement[];
  readonly traced: readonly NativeMovement[] | undefined;
  readonly logs: readonly RawLog[];
  readonly logged: NativeLogs;
  readonly nativeAsset: string | null;
};

/** Returns the movements of a transaction as its traces and logs show them, each once. */
export function withLogs(parts: Known): readonly NativeMovement[] {
  const { transaction, own, traced, logs, logged, nativeAsset } = parts;
  // The sender of a deposit may be an account of the first layer. Only the logs show what is minted and moved.
  const known = transaction.isMinting === true && nativeAsset !== null ? none : (traced ?? own);
  if (logged.movements.length > 0) return [...known, ...without(logged.movements, known)];
  if (traced !== undefined) return known;
  const emitted = logs.filter((log) => isNativeLog(log, nativeLogEmitter));
  if (emitted.length > 0) return loggedMovements(transaction, emitted);
  return [...known, ...logs.filter(isStateSync).map(syncedOf)];
}

/** Polygon: the native contract pays out what the first layer has brought. Traces have a frame of it. */
const isStateSync = ({ address, topics: of, data }: RawLog): boolean =>
  address === stateSyncContract && of[0] === topics.stateSync && of.length === 3 && data.length >= 66;

const syncedOf = (log: RawLog): NativeMovement => ({
  from: log.address,
  to: topicAddress(log, 2),
  value: wordAt(log, 0),
  internal: true,
});

const nameOf = ({ from, to, value }: NativeMovement) => `${from}${to}${value}`;

/** Returns the movements without the known movements, each as often as it is known. */
function without(movements: readonly NativeMovement[], known: readonly NativeMovement[]): NativeMovement[] {
  const counts = new Map<string, number>();
  for (const each of known) counts.set(nameOf(each), (counts.get(nameOf(each)) ?? 0) + 1);
  return movements.filter((each) => {
    const count = counts.get(nameOf(each)) ?? 0;
    counts.set(nameOf(each), count - 1);
    return count <= 0;
  });
}

const movementOf = (log: RawLog): NativeMovement => ({
  from: topicAddress(log, 1),
  to: log.topics[0] === topics.burn ? zeroAddress : topicAddress(log, 2),
  value: wordAt(log, 0),
  internal: true,
});

/**
 * Returns the movements without those between the account that paid the fee and the account that got exactly the fee.
 * The sender of the transaction is the payer if both the sender and another account fit.
 */
function withoutFee(movements: readonly NativeMovement[], sender: string, cost: bigint | null): NativeLogs {
  if (cost === null || cost === 0n) return { movements };
  const net = new Map<string, { readonly payer: string; readonly collector: string; amount: bigint }>();
  const add = (payer: string, collector: string, value: bigint) => {
    const pair = net.get(payer + collector) ?? { payer, collector, amount: 0n };
    net.set(payer + collector, pair);
    pair.amount += value;
  };
  for (const { from, to, value } of movements) {
    add(from, to, value);
    add(to, from, -value);
  }
  const pairs = [...net.values()].filter(({ amount }) => amount === cost);
  const paid = pairs.find(({ payer }) => payer === sender) ?? pairs[0];
  if (paid === undefined) return { movements };
  const sides = new Set([paid.payer, paid.collector]);
  return {
    movements: movements.filter(({ from, to }) => !(from !== to && sides.has(from) && sides.has(to))),
    payer: paid.payer,
  };
}

function isNativeLog({ address, topics: [topic], data }: RawLog, emitter: string): boolean {
  return address === emitter && (topic === topics.transfer || topic === topics.burn) && data.length === 66;
}

function loggedMovements(transaction: RawTransaction, logs: readonly RawLog[]): NativeMovement[] {
  return logs.map((log, index) => ({
    ...movementOf(log),
    // The transaction's own value moves before any code runs.
    internal: index > 0 || transaction.value === 0n,
  }));
}
