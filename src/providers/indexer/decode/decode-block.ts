import { creditsOf } from './block-credits.ts';
import { type BlockLogs, createBlockLogs, type LogSettings } from './block-logs.ts';
import { withConsent } from './consent.ts';
import type { CreditRules } from './credit-rules.ts';
import { decodeLogs } from './decode-logs.ts';
import { delegationsOf } from './delegations.ts';
import {
  type BlockHeader,
  type IndexedBlock,
  type IndexedTransaction,
  type LogFindings,
  type NativeMovement,
  zeroAddress,
} from './domain.ts';
import { withFee } from './fee-transfers.ts';
import { MalformedBlockError } from './hex.ts';
import { topicAddress, wordAt } from './log-words.ts';
import type { RawBlock, RawLog, RawReceipt, RawTransaction, RawUncle } from './raw-block.ts';
import { nativeLogEmitter, topics } from './topics.ts';
import { type BlockTraces, isOutside, type TraceFindings } from './traces.ts';
import type { Steps } from './turns.ts';

/** A node's data of one block: receipts in the order of the transactions, and traces where it has them. */
export type BlockSource = {
  readonly block: RawBlock;
  readonly receipts: readonly RawReceipt[];
  readonly traces: BlockTraces | undefined;
  /** Whether traces of some transactions are missing. */
  readonly partlyTraced?: boolean;
  /** Hashes of transactions that the network is known to have no receipt of: they failed without effect. */
  readonly withoutReceipt?: ReadonlySet<string>;
  /** How logs of the network are read. */
  readonly logSettings?: LogSettings;
  /** Only where they were read. */
  readonly uncles?: readonly RawUncle[] | undefined;
};

/**
 * Decodes a block, a transaction or a signature at a time. Pure.
 * @param wrapped contracts of wrapped native tokens, in lower case
 * @param rules of what the protocol credits outside of transactions
 * @throws MalformedBlockError when receipts and transactions do not match
 */
export function* decodeSteps(
  source: BlockSource,
  wrapped: ReadonlySet<string>,
  rules: CreditRules,
): Steps<IndexedBlock> {
  const { block, receipts, traces, partlyTraced = false, withoutReceipt = new Set() } = source;
  const byHash = new Map(receipts.map((receipt) => [receipt.hash, receipt]));
  const blockLogs = createBlockLogs(wrapped, source.logSettings);
  const transactions: IndexedTransaction[] = [];
  let logs = 0;
  for (const transaction of block.transactions) {
    yield;
    const found = byHash.get(transaction.hash);
    if (found === undefined && withoutReceipt.has(transaction.hash)) {
      transactions.push(withoutEffect(transaction));
      continue;
    }
    const receipt = receiptOf(block.header, transaction, found);
    const findings = decodeLogs(numbered(receipt.logs, logs), blockLogs);
    logs += receipt.logs.length;
    const trace = traces?.get(transaction.hash);
    transactions.push(yield* assemble({ transaction, receipt, findings, trace, block, blockLogs }));
  }
  return {
    header: block.header,
    transactions,
    skipped: blockLogs.skipped,
    metadataChanges: blockLogs.metadata.all(),
    traced: traces !== undefined && !partlyTraced,
    withoutReceipt: withoutReceipt.size,
    partialFees: partialFees(block, receipts),
    withdrawals: block.withdrawals?.length ?? 0,
    ...creditsOf({ block, transactions, uncles: source.uncles }, rules),
  };
}

/**
 * Counts transactions without a fee for the first layer. A rollup of the OP kind begins each block with a transaction
 * of its first layer, and charges the other transactions for that layer.
 */
function partialFees({ transactions }: RawBlock, receipts: readonly RawReceipt[]): number {
  if (transactions[0]?.isDeposit !== true) return 0;
  const deposits = new Set(transactions.filter(({ isDeposit }) => isDeposit).map(({ hash }) => hash));
  return receipts.filter(({ hash, hasLayerFee }) => !hasLayerFee && !deposits.has(hash)).length;
}

/**
 * Returns the logs with their places in the block as their indexes. Most nodes number them like that. Some nodes
 * start again in each transaction, and two logs with the same index would be one row.
 */
function numbered(logs: readonly RawLog[], before: number): readonly RawLog[] {
  if (logs[0] === undefined || logs.every(({ index }, place) => index === before + place)) return logs;
  return logs.map((log, place) => ({ ...log, index: before + place }));
}

/** Returns what is known of a transaction without its receipt. */
function ownOf({ hash, index, nonce, from, to, value, gas, selector }: RawTransaction) {
  return { hash, index, nonce, from, to, value, gas, selector };
}

/**
 * Returns a transaction that moved nothing. Ethermint lists transactions that failed in the gas of their block,
 * without a receipt.
 */
function withoutEffect(transaction: RawTransaction): IndexedTransaction {
  return {
    ...ownOf(transaction),
    gasPrice: transaction.gasPrice ?? null,
    created: null,
    gasUsed: null,
    fee: null,
    feePayer: null,
    succeeded: false,
    suspects: none,
    native: none,
    erc20: none,
    nft: none,
    approvals: none,
    borrowers: none,
    delegations: none,
    internalCalls: null,
  };
}

function receiptOf(
  header: BlockHeader,
  transaction: RawTransaction,
  receipt: RawReceipt | undefined,
): RawReceipt {
  const { hash } = transaction;
  const outside = isOutside(transaction);
  // The answers to two calls may come from two branches.
  if (receipt !== undefined && (outside || receipt.blockHash === header.hash)) return receipt;
  if (!outside) throw new MalformedBlockError(`receipt of ${hash}`, receipt?.blockHash);
  const nothing = { gasUsed: 0n, gasPrice: 0n, extraFee: 0n, created: null, logs: [] };
  return { hash, blockHash: header.hash, succeeded: true, ...nothing };
}

type Parts = {
  readonly transaction: RawTransaction;
  readonly receipt: RawReceipt;
  readonly findings: LogFindings;
  readonly trace: TraceFindings | undefined;
  readonly block: RawBlock;
  readonly blockLogs: BlockLogs;
};

/**
 * Returns the price that was paid per unit of gas; null where the node does not report it. The bid is not the price.
 */
function paidPrice(transaction: RawTransaction, { gasPrice: told }: RawReceipt, baseFee: bigint | undefined) {
  const { maxFee, maxTip, gasPrice = null, isLegacy, isDeposit } = transaction;
  const isBelowBase = told === 0n && baseFee !== undefined && baseFee > 0n && isDeposit !== true;
  const isDynamic = maxFee !== undefined && maxTip !== undefined && baseFee !== undefined;
  if (told !== undefined && !(isBelowBase && isDynamic)) return told;
  if (isDynamic) return maxFee < baseFee + maxTip ? maxFee : baseFee + maxTip;
  return isLegacy === true ? gasPrice : null;
}

/** Returns who paid the fee, where that was not the sender. */
function payerOf(
  { from, feePayer: signed, isPrepaid }: RawTransaction,
  receipt: RawReceipt,
  logged: string | undefined,
  isTracedPrepaid: boolean,
) {
  const payer = receipt.feePayer ?? signed ?? logged ?? from;
  if (isPrepaid === true || isTracedPrepaid) return zeroAddress;
  return payer === from ? null : payer;
}

function* assemble(parts: Parts): Steps<IndexedTransaction> {
  const { transaction, receipt, findings, trace, block } = parts;
  const feeToken = receipt.feeToken ?? transaction.feeToken;
  const gasPrice = paidPrice(transaction, receipt, feeToken === undefined ? block.baseFee : undefined);
  const cost = gasPrice === null || receipt.gasUsed === null ? null : receipt.gasUsed * gasPrice;
  // Some nodes write the operator's share into receipts of deposits, although nobody pays it.
  const extraFee = transaction.isDeposit === true ? 0n : receipt.extraFee;
  const logged = nativeLogs(parts, cost);
  const feePayer = payerOf(transaction, receipt, logged.payer, trace?.isPrepaid === true);
  // A receipt from before Byzantium has no status; without a trace such a transaction counts as successful.
  const succeeded = receipt.succeeded ?? trace?.failed !== true;
  const { approvals, borrowers } = findings;
  const created = transaction.to === null && succeeded ? receipt.created : null;
  const delegations = transaction.authorizations === undefined ? none : yield* delegationsOf(transaction);
  const { erc20, nft, suspects } = withConsent({
    transaction,
    created,
    delegations,
    ...findings,
    logs: receipt.logs,
  });
  return {
    ...ownOf(transaction),
    created,
    gasPrice,
    gasUsed: receipt.gasUsed,
    fee: feeToken === undefined && cost !== null ? cost + extraFee : null,
    feePayer,
    succeeded,
    native: [
      ...minted(transaction),
      ...(trace?.outside ?? none),
      ...(succeeded ? nativeOf(parts, logged.movements) : none),
    ],
    erc20:
      feeToken === undefined
        ? erc20
        : withFee(erc20, { token: feeToken, payer: feePayer ?? transaction.from, amount: cost }),
    nft,
    approvals,
    borrowers,
    delegations,
    suspects,
    internalCalls: trace?.calls ?? null,
  };
}

const none: readonly never[] = [];

/** The value of a deposit from the first layer is credited to its sender even when its call fails. */
function minted({ minted: value, from }: RawTransaction): NativeMovement[] {
  return value > 0n ? [{ from: zeroAddress, to: from, value, internal: true }] : [];
}

type Logged = {
  readonly movements: readonly NativeMovement[];
  /** Who paid the fee, where the logs show it. */
  readonly payer?: string | undefined;
};

/** Returns what the contract of the native asset logged of a transaction, without the fee. */
function nativeLogs({ transaction: { from }, receipt, blockLogs }: Parts, cost: bigint | null): Logged {
  const { nativeAsset } = blockLogs;
  if (nativeAsset === null) return { movements: none };
  const movements = receipt.logs
    .filter((log) => isNativeLog(log, nativeAsset) && log.topics.length === 3)
    .map(movementOf);
  return withoutFee(movements, from, cost);
}

function nativeOf(
  { transaction, receipt, trace }: Parts,
  logged: readonly NativeMovement[],
): readonly NativeMovement[] {
  const to = transaction.to ?? receipt.created;
  const own =
    transaction.value === 0n || to === null
      ? none
      : [{ from: transaction.from, to, value: transaction.value, internal: false }];
  const known = trace?.native ?? own;
  if (logged.length > 0) return [...known, ...without(logged, known)];
  const emitted =
    trace === undefined ? receipt.logs.filter((log) => isNativeLog(log, nativeLogEmitter)) : none;
  return emitted.length === 0 ? known : loggedMovements(transaction, emitted);
}

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
function withoutFee(movements: readonly NativeMovement[], sender: string, cost: bigint | null): Logged {
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
