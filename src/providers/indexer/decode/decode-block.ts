import { creditsOf } from './block-credits.ts';
import { type BlockLogs, createBlockLogs, type LogSettings } from './block-logs.ts';
import { withConsent } from './consent.ts';
import { type CreditRules, creditRulesOf } from './credit-rules.ts';
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
import { atOnce, type Steps } from './turns.ts';

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

type Decoding = [source: BlockSource, wrapped: ReadonlySet<string>, rules?: CreditRules];

/** Decodes a block at once, as {@link decodeSteps} says. */
export const decodeBlock = (...decoding: Decoding): IndexedBlock => atOnce(decodeSteps(...decoding));

/**
 * Decodes a block, a transaction or a signature at a time. Pure.
 * @param wrapped contracts of wrapped native tokens, in lower case
 * @param rules of what the protocol credits outside of transactions
 * @throws MalformedBlockError when receipts and transactions do not match
 */
export function* decodeSteps(...[source, wrapped, rules = creditRulesOf('')]: Decoding): Steps<IndexedBlock> {
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

/** A rollup of the OP kind begins each block with a transaction of its first layer, and charges others for that layer. */
function partialFees({ transactions }: RawBlock, receipts: readonly RawReceipt[]): number {
  if (transactions[0]?.isDeposit !== true) return 0;
  const deposits = new Set(transactions.filter(({ isDeposit }) => isDeposit).map(({ hash }) => hash));
  return receipts.filter(({ hash, hasLayerFee }) => !hasLayerFee && !deposits.has(hash)).length;
}

/**
 * The logs with their places in the block as their indexes. Most nodes number them so; some begin anew in each
 * transaction, and two logs with one index would be one row.
 */
function numbered(logs: readonly RawLog[], before: number): readonly RawLog[] {
  if (logs[0] === undefined || logs.every(({ index }, place) => index === before + place)) return logs;
  return logs.map((log, place) => ({ ...log, index: before + place }));
}

/** Ethermint lists transactions that failed in the gas of their block: they moved nothing, and have no receipt. */
function withoutEffect(transaction: RawTransaction): IndexedTransaction {
  const { hash, index, nonce, from, to, value, gas, gasPrice = null, selector } = transaction;
  return {
    hash,
    index,
    nonce,
    from,
    to,
    value,
    gas,
    gasPrice,
    selector,
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

/** The price that was paid per unit of gas; null where the node does not say. What was offered is none. */
function paidPrice(transaction: RawTransaction, { gasPrice: told }: RawReceipt, baseFee: bigint | undefined) {
  const { maxFee, maxTip, gasPrice = null, isLegacy, isDeposit } = transaction;
  const isBelowBase = told === 0n && baseFee !== undefined && baseFee > 0n && isDeposit !== true;
  const isDynamic = maxFee !== undefined && maxTip !== undefined && baseFee !== undefined;
  if (told !== undefined && !(isBelowBase && isDynamic)) return told;
  if (isDynamic) return maxFee < baseFee + maxTip ? maxFee : baseFee + maxTip;
  return isLegacy === true ? gasPrice : null;
}

/** Who paid the fee, where that was not the sender. */
function payerOf({ from, feePayer: signed }: RawTransaction, receipt: RawReceipt, isPrepaid: boolean) {
  const payer = receipt.feePayer ?? signed ?? from;
  if (isPrepaid) return zeroAddress;
  return payer === from ? null : payer;
}

function* assemble(parts: Parts): Steps<IndexedTransaction> {
  const { transaction, receipt, findings, trace, block } = parts;
  const feeToken = receipt.feeToken ?? transaction.feeCurrency ?? undefined;
  const gasPrice = paidPrice(transaction, receipt, feeToken === undefined ? block.baseFee : undefined);
  const cost = gasPrice === null ? null : receipt.gasUsed * gasPrice;
  const feePayer = payerOf(transaction, receipt, trace?.isPrepaid === true);
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
    hash: transaction.hash,
    index: transaction.index,
    nonce: transaction.nonce,
    from: transaction.from,
    to: transaction.to,
    created,
    value: transaction.value,
    gas: transaction.gas,
    gasPrice,
    gasUsed: receipt.gasUsed,
    fee: feeToken === undefined && cost !== null ? cost + receipt.extraFee : null,
    feePayer,
    succeeded,
    selector: transaction.selector,
    native: [
      ...minted(transaction),
      ...(trace?.outside ?? none),
      ...(succeeded ? nativeOf(parts, cost) : none),
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

function nativeOf(
  { transaction, receipt, trace, blockLogs }: Parts,
  cost: bigint | null,
): readonly NativeMovement[] {
  if (trace !== undefined) return trace.native;
  const to = transaction.to ?? receipt.created;
  const own =
    transaction.value === 0n || to === null
      ? none
      : [{ from: transaction.from, to, value: transaction.value, internal: false }];
  const { nativeAsset } = blockLogs;
  const logged = receipt.logs.filter((log) => isNativeLog(log, nativeAsset));
  if (logged.length === 0) return own;
  if (nativeAsset === null || logged[0]?.address !== nativeAsset) return loggedMovements(transaction, logged);
  const movements = withoutFee(
    logged.filter(({ topics: { length } }) => length === 3).map(movementOf),
    transaction.from,
    cost,
  );
  // Some of these contracts log what they are called for only.
  const place = movements.findIndex((each) => own.some((one) => isSame(one, each)));
  return [...own, ...movements.filter((_, index) => index !== place)];
}

const movementOf = (log: RawLog): NativeMovement => ({
  from: topicAddress(log, 1),
  to: log.topics[0] === topics.burn ? zeroAddress : topicAddress(log, 2),
  value: wordAt(log, 0),
  internal: true,
});

const isSame = (one: NativeMovement, other: NativeMovement) =>
  one.from === other.from && one.to === other.to && one.value === other.value;

/** The movements without those between the payer and whoever took exactly the fee in the end. */
function withoutFee(
  movements: readonly NativeMovement[],
  payer: string,
  cost: bigint | null,
): readonly NativeMovement[] {
  if (cost === null || cost === 0n) return movements;
  const taken = new Map<string, bigint>();
  for (const { from, to, value } of movements) {
    if (from === payer) taken.set(to, (taken.get(to) ?? 0n) + value);
    if (to === payer) taken.set(from, (taken.get(from) ?? 0n) - value);
  }
  const [collector] = [...taken].find(([, amount]) => amount === cost) ?? [];
  return collector === undefined
    ? movements
    : movements.filter(({ from, to }) => !(isBetween(from, to) || isBetween(to, from)));
  function isBetween(one: string, other: string) {
    return one === payer && other === collector;
  }
}

function isNativeLog({ address, topics: [topic], data }: RawLog, nativeAsset: string | null): boolean {
  return (
    (address === nativeLogEmitter || address === nativeAsset) &&
    (topic === topics.transfer || topic === topics.burn) &&
    data.length === 66
  );
}

function loggedMovements(transaction: RawTransaction, logs: readonly RawLog[]): NativeMovement[] {
  return logs.map((log, index) => ({
    ...movementOf(log),
    // The transaction's own value moves before any code runs.
    internal: index > 0 || transaction.value === 0n,
  }));
}
