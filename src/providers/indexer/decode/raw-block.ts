import { zeroAddress } from '../../../chain/address.ts';
import type { BlockHeader, IndexedTransaction } from './domain.ts';
import {
  addressOfWord,
  blockNumberOf,
  bytesOf,
  type Fields,
  fieldsOf,
  hashOf,
  listOf,
  MalformedBlockError,
  optionalAddress,
  optionalQuantity,
  quantityOf,
} from './hex.ts';

export type RawTransaction = Pick<
  IndexedTransaction,
  'hash' | 'index' | 'nonce' | 'from' | 'to' | 'value' | 'gas' | 'selector'
> & {
  /** The bid, or the price of a legacy transaction; undefined where the node does not report it. */
  readonly gasPrice?: bigint | undefined;
  /** Of EIP-1559. */
  readonly maxFee?: bigint | undefined;
  readonly maxTip?: bigint | undefined;
  /** Whether `gasPrice` is what is paid: the transaction is older than EIP-1559. */
  readonly isLegacy?: boolean;
  /** The token that the fee is paid in, where that is not the native asset. */
  readonly feeToken?: string;
  /** Another account that has signed to pay the fee. */
  readonly feePayer?: string;
  /** The percentage of the fee that this account pays (Kaia). */
  readonly feePayerPercent?: number;
  /** Whether the gas was paid before: the transaction redeems a ticket of Nitro. */
  readonly isPrepaid?: boolean;
  /** Whether a first layer was paid, and mints what the transaction brings (zkSync). */
  readonly isMinting?: boolean;
  /** Whether it pays for blobs (EIP-4844). */
  readonly hasBlobs?: boolean;
  /** Value that a deposit of an OP chain brings from its first layer. */
  readonly minted: bigint;
  /** Made by the first layer of a rollup, which pays no fee. */
  readonly isDeposit?: boolean;
  /** Of EIP-7702, unchecked; only where there are any. */
  readonly authorizations?: readonly unknown[];
  readonly chainId?: bigint | undefined;
};

export type RawLog = {
  readonly address: string;
  readonly topics: readonly string[];
  /** Bytes in hex. */
  readonly data: string;
  /** Index within the block, or -1 where the node does not say; the block counts them again then. */
  readonly index: number;
};

export type RawReceipt = {
  readonly hash: string;
  readonly blockHash: string;
  /** Undefined before Byzantium, when receipts had a state root instead. */
  readonly succeeded: boolean | undefined;
  /** Null where the node does not report it. */
  readonly gasUsed: bigint | null;
  readonly gasPrice: bigint | undefined;
  /** Undefined where the node does not report gas or price of blobs. */
  readonly blobFee?: bigint | undefined;
  /** Fees other than gas and blobs: the first-layer fee and the operator fee of an OP chain. */
  readonly extraFee: bigint;
  /** Whether it has the cost of the first layer. */
  readonly hasLayerFee?: boolean;
  /** The token that the fee was paid in, and the payer of the fee; only on networks whose receipts have it. */
  readonly feeToken?: string;
  readonly feePayer?: string;
  readonly created: string | null;
  readonly logs: readonly RawLog[];
  /** The bloom filter of the logs, in hex; undefined where the node gives none. */
  readonly bloom?: string | undefined;
};

export type RawBlock = {
  readonly header: BlockHeader;
  readonly transactions: readonly RawTransaction[];
  /** Whether the header commits to receipts, so that every transaction of the block has one. */
  readonly commitsReceipts?: boolean;
  /** The bloom filter of all logs, as of a receipt. */
  readonly bloom?: string | undefined;
  /** Of stakes (EIP-4895). */
  readonly withdrawals?: readonly RawWithdrawal[];
  /** The account that is paid for the block. */
  readonly beneficiary?: string;
  /** Undefined before EIP-1559. */
  readonly baseFee?: bigint | undefined;
  /** 0 without proof of work. */
  readonly difficulty?: bigint;
  readonly uncleCount?: number;
};

/** `amount` in gwei. */
type RawWithdrawal = {
  readonly index: bigint | null;
  readonly validatorIndex: bigint | null;
  readonly address: string;
  readonly amount: bigint;
};

/** A block that was left behind. It is paid because another block names it. */
export type RawUncle = { readonly number: bigint; readonly beneficiary: string };

/** The root of no receipts, which Ethermint writes into every header. */
const emptyRoot = '0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421';

/** Parses the answer to `eth_getBlockByNumber` with full transactions. @throws MalformedBlockError */
export function readBlock(value: unknown): RawBlock {
  const block = fieldsOf(value, 'block');
  return {
    header: readHeader(block),
    ...readConsensus(block),
    bloom: bloomOf(block),
    commitsReceipts: typeof block['receiptsRoot'] === 'string' && !isEmptyRoot(block['receiptsRoot']),
    transactions: listOf(transactionsOf(block), 'transactions').map((transaction, index) =>
      readTransaction(fieldsOf(transaction, 'transaction'), index),
    ),
  };
}

/**
 * Returns the list of transactions. Some nodes write null for an empty list, which counts where the block used no
 * gas.
 */
function transactionsOf({ transactions, gasUsed }: Fields): unknown {
  return transactions === null && optionalQuantity(gasUsed, 'gasUsed') === 0n ? [] : transactions;
}

const bloomForm = /^0x[0-9a-f]{512}$/i;
const bloomOf = ({ logsBloom }: Fields): string | undefined =>
  typeof logsBloom === 'string' && bloomForm.test(logsBloom) ? logsBloom : undefined;

// In gwei, nine million times all ether: a node that writes wei exceeds it.
const mostWithdrawn = 2n ** 53n;

function withdrawalsOf(block: Fields): readonly RawWithdrawal[] {
  const withdrawals = listOf(block['withdrawals'] ?? [], 'withdrawals').map(readWithdrawal);
  const total = withdrawals.reduce((sum, { amount }) => sum + amount, 0n);
  if (total <= mostWithdrawn) return withdrawals;
  throw new MalformedBlockError('withdrawals (their amounts must be in gwei)', String(total));
}

function readConsensus(block: Fields) {
  const beneficiary = optionalAddress(block['miner'], 'miner');
  return {
    withdrawals: withdrawalsOf(block),
    ...(beneficiary !== null && { beneficiary }),
    baseFee: optionalQuantity(block['baseFeePerGas'], 'baseFeePerGas'),
    difficulty: optionalQuantity(block['difficulty'], 'difficulty') ?? 0n,
    uncleCount: listOf(block['uncles'] ?? [], 'uncles').length,
  };
}

function readWithdrawal(value: unknown): RawWithdrawal {
  const withdrawal = fieldsOf(value, 'withdrawal');
  return {
    index: optionalQuantity(withdrawal['index'], 'withdrawal index') ?? null,
    validatorIndex: optionalQuantity(withdrawal['validatorIndex'], 'validatorIndex') ?? null,
    address: addressOfWord(withdrawal['address'], 'withdrawal address'),
    amount: quantityOf(withdrawal['amount'], 'withdrawal amount'),
  };
}

/** Parses the answer to `eth_getUncleByBlockHashAndIndex`. @throws MalformedBlockError */
export function readUncle(value: unknown): RawUncle {
  const uncle = fieldsOf(value, 'uncle');
  return {
    number: quantityOf(uncle['number'], 'uncle number'),
    beneficiary: addressOfWord(uncle['miner'], 'uncle miner'),
  };
}

function isEmptyRoot(root: string): boolean {
  return root === emptyRoot || /^0x0*$/.test(root);
}

/** Parses a block with or without its transactions. @throws MalformedBlockError */
export function readHeader(value: unknown): BlockHeader {
  const block = fieldsOf(value, 'block');
  return {
    number: blockNumberOf(block['number'], 'number'),
    hash: hashOf(block['hash'], 'hash'),
    parentHash: hashOf(block['parentHash'], 'parentHash'),
    timestamp: secondsOf(block['timestamp']),
  };
}

// The year 5138: milliseconds since 1970 have been more since 1973.
const mostSeconds = 100_000_000_000n;

function secondsOf(value: unknown): bigint {
  const seconds = quantityOf(value, 'timestamp');
  if (seconds < mostSeconds) return seconds;
  throw new MalformedBlockError('timestamp (it must be in seconds since 1970, not milliseconds)', value);
}

function readTransaction(transaction: Fields, place: number): RawTransaction {
  const to = optionalAddress(transaction['to'], 'to');
  const type = typeOf(transaction['type']);
  const input = bytesOf(transaction['input'] ?? transaction['data'] ?? '0x', 'input');
  return {
    hash: hashOf(transaction['hash'], 'transaction hash'),
    // The place is counted. After a reorganisation, Polygon's nodes give a state-sync transaction its index of the
    // other branch.
    index: place,
    from: addressOfWord(transaction['from'], 'from'),
    to,
    nonce: optionalQuantity(transaction['nonce'], 'nonce') ?? null,
    value: optionalQuantity(transaction['value'], 'value') ?? 0n,
    gas: optionalQuantity(transaction['gas'], 'gas') ?? null,
    gasPrice: optionalQuantity(transaction['gasPrice'], 'gasPrice'),
    maxFee: optionalQuantity(transaction['maxFeePerGas'], 'maxFeePerGas'),
    maxTip: optionalQuantity(transaction['maxPriorityFeePerGas'], 'maxPriorityFeePerGas'),
    isLegacy: type === 0n || type === 1n,
    ...feeOf(transaction),
    ...percentOf(transaction),
    ...(type === 0x68n && 'ticketId' in transaction && { isPrepaid: true }),
    ...(type === 0xffn && { isPrepaid: true, isMinting: true }),
    ...(type === 3n && { hasBlobs: true }),
    minted: optionalQuantity(transaction['mint'], 'mint') ?? 0n,
    selector: to !== null && input.length >= 10 ? input.slice(0, 10).toLowerCase() : null,
    isDeposit: type === 0x7en,
    ...authorizationsOf(transaction),
  };
}

/** The type of a transaction: 0 where the node leaves it out, undefined for a type that is no number. */
function typeOf(value: unknown): bigint | undefined {
  if (typeof value === 'string' && !/^(0x[0-9a-f]{0,4})?$/i.test(value)) return undefined;
  return optionalQuantity(value, 'type') ?? 0n;
}

function authorizationsOf(transaction: Fields): Pick<RawTransaction, 'authorizations' | 'chainId'> {
  const list = transaction['authorizationList'];
  if (!Array.isArray(list) || list.length === 0) return {};
  return { authorizations: list, chainId: optionalQuantity(transaction['chainId'], 'chainId') };
}

/** Kaia: the part of the fee in percent that another account pays. */
function percentOf({ feeRatio }: Fields): Pick<RawTransaction, 'feePayerPercent'> {
  const percent = Number(optionalQuantity(feeRatio, 'feeRatio') ?? 100n);
  return percent > 0 && percent < 100 ? { feePayerPercent: percent } : {};
}

/** Parses one receipt with its logs. @throws MalformedBlockError */
export function readReceipt(value: unknown): RawReceipt {
  const receipt = fieldsOf(value, 'receipt');
  const status = optionalQuantity(receipt['status'], 'status');
  const blobGas = optionalQuantity(receipt['blobGasUsed'], 'blobGasUsed');
  const blobPrice = optionalQuantity(receipt['blobGasPrice'], 'blobGasPrice');
  const hash = hashOf(receipt['transactionHash'], 'receipt transactionHash');
  return {
    hash,
    blockHash: hashOf(receipt['blockHash'], 'receipt blockHash'),
    succeeded: status === undefined ? undefined : status !== 0n,
    gasUsed: optionalQuantity(receipt['gasUsed'], 'gasUsed') ?? null,
    gasPrice: optionalQuantity(receipt['effectiveGasPrice'], 'effectiveGasPrice'),
    blobFee: blobGas === undefined || blobPrice === undefined ? undefined : blobGas * blobPrice,
    extraFee: (optionalQuantity(receipt['l1Fee'], 'l1Fee') ?? 0n) + operatorFee(receipt),
    hasLayerFee: typeof receipt['l1Fee'] === 'string',
    created: optionalAddress(receipt['contractAddress'], 'contractAddress'),
    bloom: bloomOf(receipt),
    // Some nodes write an empty list as null.
    logs: listOf(receipt['logs'] === null ? [] : receipt['logs'], 'logs')
      .map((log) => fieldsOf(log, 'log'))
      .filter((log) => !isOfOther(log, hash))
      .map(readLog),
    ...feeOf(receipt),
  };
}

/** Returns what a transaction or its receipt says of the fee. The zero address is nobody, and no token. */
function feeOf(fields: Fields): Pick<RawReceipt, 'feeToken' | 'feePayer'> {
  const read = (name: string) => {
    const address = optionalAddress(fields[name], name);
    return address === zeroAddress ? null : address;
  };
  const feeToken = read('feeToken') ?? read('feeCurrency');
  const feePayer = read('feePayer');
  return { ...(feeToken !== null && { feeToken }), ...(feePayer !== null && { feePayer }) };
}

/** Returns the operator fee of the OP stack since Isthmus. Source: its specifications, "Operator Fee". */
function operatorFee(receipt: Fields): bigint {
  const scalar = optionalQuantity(receipt['operatorFeeScalar'], 'operatorFeeScalar') ?? 0n;
  const constant = optionalQuantity(receipt['operatorFeeConstant'], 'operatorFeeConstant') ?? 0n;
  const scaled = (optionalQuantity(receipt['gasUsed'], 'gasUsed') ?? 0n) * scalar;
  // Since Jovian, whose receipts have this scalar too, it is no longer in millionths.
  const isJovian = typeof receipt['daFootprintGasScalar'] === 'string';
  return (isJovian ? scaled * 100n : scaled / 1_000_000n) + constant;
}

/** Returns whether a log names another transaction. Some nodes give every receipt the logs of the whole block. */
const isOfOther = ({ transactionHash }: Fields, hash: string): boolean =>
  typeof transactionHash === 'string' &&
  /^0x[0-9a-f]{64}$/i.test(transactionHash) &&
  !/^0x0*$/.test(transactionHash) &&
  transactionHash.toLowerCase() !== hash;

const isIndex = (value: unknown) => typeof value === 'string' && /^0x[0-9a-f]{1,7}$/i.test(value);

function readLog(log: Fields): RawLog {
  return {
    address: addressOfWord(log['address'], 'log address'),
    topics: (log['topics'] === null ? [] : listOf(log['topics'], 'topics')).map((topic) =>
      hashOf(topic, 'topic'),
    ),
    data: bytesOf(log['data'] ?? '0x', 'log data'),
    index: isIndex(log['logIndex']) ? Number(log['logIndex']) : -1,
  };
}
