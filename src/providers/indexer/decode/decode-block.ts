import { zeroAddress } from '../../../chain/address.ts';
import { creditsOf } from './block-credits.ts';
import { type BlockLogs, createBlockLogs, type LogSettings } from './block-logs.ts';
import { withConsent } from './consent.ts';
import type { CreditRules } from './credit-rules.ts';
import { decodeLogs } from './decode-logs.ts';
import type {
  BlockHeader,
  Delegation,
  IndexedBlock,
  IndexedTransaction,
  LogFindings,
  NativeMovement,
} from './domain.ts';
import { withFee } from './fee-transfers.ts';
import { MalformedBlockError } from './hex.ts';
import { mintedByLogs, type NativeLogs, nativeLogsOf, withLogs } from './native-logs.ts';
import type { RawBlock, RawLog, RawReceipt, RawTransaction, RawUncle } from './raw-block.ts';
import { topics } from './topics.ts';
import { type BlockTraces, isOutside, isTraceOf, type TraceFindings } from './traces.ts';
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
  /** Whether the receipts lack logs that their bloom filters promise. */
  readonly isIncomplete?: boolean;
  /** The delegations that the network applied, by the hash of their transaction; none where they were not read. */
  readonly delegations?: ReadonlyMap<string, readonly Delegation[]>;
  /** How logs of the network are read. */
  readonly logSettings?: LogSettings;
  /** Only where they were read. */
  readonly uncles?: readonly RawUncle[] | undefined;
};

/**
 * Decodes a block, a transaction at a time. Pure.
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
  let isTraced = traces !== undefined && !partlyTraced;
  for (const transaction of block.transactions) {
    yield;
    const found = byHash.get(transaction.hash);
    if (found === undefined && withoutReceipt.has(transaction.hash)) {
      transactions.push(withoutEffect(transaction));
      continue;
    }
    const receipt = receiptOf(block.header, transaction, found);
    const feeToken = receipt.feeToken ?? transaction.feeToken;
    const trace = traceOf(traces, transaction, receipt);
    // A receipt from before Byzantium has no status; without a trace such a transaction counts as successful.
    const succeeded = receipt.succeeded ?? trace?.failed !== true;
    const own = numbered(receipt.logs, logs);
    const findings = decodeLogs(succeeded ? own : logsOfFee(own, feeToken), blockLogs);
    logs += receipt.logs.length;
    // What the protocol moved without a trace is in the logs of the receipt.
    if (trace === undefined && !(isOutside(transaction) && found !== undefined)) isTraced = false;
    const delegations = source.delegations?.get(transaction.hash) ?? none;
    transactions.push(
      assemble({ transaction, receipt, succeeded, feeToken, findings, trace, block, blockLogs, delegations }),
    );
  }
  return {
    header: block.header,
    transactions,
    skipped: blockLogs.skipped,
    metadataChanges: blockLogs.metadata.all(),
    traced: isTraced,
    isIncomplete: source.isIncomplete ?? false,
    withoutReceipt: withoutReceipt.size,
    partialFees: partialFees(block, receipts),
    withdrawals: block.withdrawals?.length ?? 0,
    ...creditsOf({ block, transactions, uncles: source.uncles }, rules),
  };
}

/** Returns the trace of the transaction, unless it contradicts the transaction or its receipt. */
function traceOf(traces: BlockTraces | undefined, transaction: RawTransaction, receipt: RawReceipt) {
  const trace = traces?.get(transaction.hash);
  return trace !== undefined && isTraceOf(trace, transaction, receipt) ? trace : undefined;
}

/** Returns the transfers of the token that pays the fee. A failed transaction moves nothing else. */
const logsOfFee = (logs: readonly RawLog[], feeToken: string | undefined): readonly RawLog[] =>
  logs.filter(({ address, topics: [topic] }) => address === feeToken && topic === topics.transfer);

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
    loudSuspects: none,
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
  readonly succeeded: boolean;
  readonly feeToken: string | undefined;
  readonly findings: LogFindings;
  readonly trace: TraceFindings | undefined;
  readonly block: RawBlock;
  readonly blockLogs: BlockLogs;
  readonly delegations: readonly Delegation[];
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

function assemble(parts: Parts): IndexedTransaction {
  const { transaction, receipt, succeeded, feeToken, findings, trace, block, blockLogs } = parts;
  const gasPrice = paidPrice(transaction, receipt, feeToken === undefined ? block.baseFee : undefined);
  const cost = costOf(transaction, receipt, gasPrice);
  const isBlobFeeUnknown = transaction.hasBlobs === true && receipt.blobFee === undefined;
  const logged = nativeLogsOf(receipt.logs, blockLogs, { sender: transaction.from, cost });
  const feePayer = payerOf(transaction, receipt, logged.payer, trace?.isPrepaid === true);
  const created = transaction.to === null && succeeded ? receipt.created : null;
  const { erc20, ...consented } = withConsent({ transaction, created, ...findings, logs: receipt.logs });
  const tokens =
    feeToken === undefined
      ? erc20
      : withFee(erc20, { token: feeToken, payer: feePayer ?? transaction.from, amount: cost });
  return {
    ...ownOf(transaction),
    ...consented,
    created,
    gasPrice,
    gasUsed: receipt.gasUsed,
    fee: feeToken !== undefined || isBlobFeeUnknown || cost === null ? null : cost + extraFeeOf(parts),
    ...(isBlobFeeUnknown && { isBlobFeeUnknown }),
    feePayer,
    ...(feePayer !== null && percentOf(transaction)),
    succeeded,
    native: [
      ...mintedOf(parts),
      ...(trace?.outside ?? none),
      ...(succeeded ? nativeOf(parts, logged) : none),
    ],
    erc20: succeeded ? tokens : tokens.filter(({ kind }) => kind === 'fee'),
    delegations: parts.delegations,
    internalCalls: trace?.calls ?? null,
  };
}

const percentOf = ({ feePayerPercent }: RawTransaction) =>
  feePayerPercent === undefined ? {} : { feePayerPercent };

/** Returns what the gas cost; null where that is unknown. A first layer was paid for what it deposits. */
function costOf(
  { isMinting }: RawTransaction,
  { gasUsed }: RawReceipt,
  gasPrice: bigint | null,
): bigint | null {
  if (isMinting === true) return 0n;
  return gasPrice === null || gasUsed === null ? null : gasUsed * gasPrice;
}

/** Some nodes write the operator's share into receipts of deposits, although nobody pays it. */
function extraFeeOf({ transaction: { isDeposit }, receipt: { extraFee, blobFee = 0n } }: Parts): bigint {
  return isDeposit === true ? 0n : extraFee + blobFee;
}

const none: readonly never[] = [];

/** Returns what a first layer brings: its deposit is credited even when the call fails. */
function mintedOf({
  transaction: { minted, from, isMinting },
  receipt,
  blockLogs,
}: Parts): readonly NativeMovement[] {
  if (isMinting === true) return mintedByLogs(receipt.logs, blockLogs);
  return minted > 0n ? [{ from: zeroAddress, to: from, value: minted, internal: true }] : [];
}

function nativeOf({ transaction, receipt, trace, blockLogs }: Parts, logged: NativeLogs) {
  const to = transaction.to ?? receipt.created;
  const own =
    transaction.value === 0n || to === null
      ? none
      : [{ from: transaction.from, to, value: transaction.value, internal: false }];
  const minted = transaction.isMinting === true ? none : mintedByLogs(receipt.logs, blockLogs);
  const { nativeAsset } = blockLogs;
  const all = { transaction, own, traced: trace?.native, logs: receipt.logs, logged, nativeAsset };
  return [...minted, ...withLogs(all)];
}
