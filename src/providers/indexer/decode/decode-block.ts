import { creditsOf } from './block-credits.ts';
import { createBlockLogs } from './block-logs.ts';
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
import type { BlockTraces, TraceFindings } from './traces.ts';
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
  if (byHash.size > block.transactions.length)
    throw new MalformedBlockError('number of receipts', byHash.size);
  const blockLogs = createBlockLogs(wrapped);
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
    transactions.push(yield* assemble(transaction, receipt, findings, traces?.get(transaction.hash)));
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
  const { hash, index, nonce, from, to, value, gas, gasPrice, selector } = transaction;
  return {
    ...{ hash, index, nonce, from, to, value, gas, gasPrice, selector },
    ...{ created: null, gasUsed: null, fee: null, succeeded: false },
    ...{
      suspects: none,
      native: none,
      erc20: none,
      nft: none,
      approvals: none,
      borrowers: none,
      delegations: none,
    },
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

/**
 * Polygon's state-sync transactions stand outside the block's roots: some nodes have no receipt for them, or that of
 * the other branch after a reorganisation.
 */
export function isOutside({ from, to, gas }: Pick<RawTransaction, 'from' | 'to' | 'gas'>): boolean {
  return from === zeroAddress && to === zeroAddress && gas === 0n;
}

function* assemble(
  transaction: RawTransaction,
  receipt: RawReceipt,
  findings: Pick<LogFindings, 'erc20' | 'nft' | 'approvals' | 'borrowers' | 'operationSenders'>,
  trace: TraceFindings | undefined,
): Steps<IndexedTransaction> {
  const gasPrice = receipt.gasPrice ?? transaction.gasPrice;
  // A receipt from before Byzantium has no status; without a trace such a transaction counts as successful.
  const succeeded = receipt.succeeded ?? trace?.failed !== true;
  const { approvals, borrowers } = findings;
  const created = transaction.to === null && succeeded ? receipt.created : null;
  const delegations = transaction.authorizations === undefined ? none : yield* delegationsOf(transaction);
  const { erc20, nft, suspects } = withConsent({
    ...{ transaction, created, delegations, ...findings, logs: receipt.logs },
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
    fee: receipt.feeToken === undefined ? receipt.gasUsed * gasPrice + receipt.extraFee : null,
    succeeded,
    selector: transaction.selector,
    native: [...minted(transaction), ...(succeeded ? nativeOf(transaction, receipt, trace) : [])],
    erc20: receipt.feeToken === undefined ? erc20 : withFee(erc20, transaction, receipt),
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
  transaction: RawTransaction,
  receipt: RawReceipt,
  trace: TraceFindings | undefined,
): readonly NativeMovement[] {
  if (trace !== undefined) return trace.native;
  const logged = receipt.logs.filter(isNativeLog);
  if (logged.length > 0) return loggedMovements(transaction, logged);
  const to = transaction.to ?? receipt.created;
  if (transaction.value === 0n || to === null) return [];
  return [{ from: transaction.from, to, value: transaction.value, internal: false }];
}

function isNativeLog({ address, topics: [topic], data }: RawLog): boolean {
  return (
    address === nativeLogEmitter && (topic === topics.transfer || topic === topics.burn) && data.length === 66
  );
}

function loggedMovements(transaction: RawTransaction, logs: readonly RawLog[]): NativeMovement[] {
  return logs.map((log, index) => ({
    from: topicAddress(log, 1),
    to: log.topics[0] === topics.burn ? zeroAddress : topicAddress(log, 2),
    value: wordAt(log, 0),
    // The transaction's own value moves before any code runs.
    internal: index > 0 || transaction.value === 0n,
  }));
}
