import { formatUnits } from '../../../chain/decimal.ts';
import type { HistoryRecord, Reconciled, WalletCredit } from '../../shared/provider.ts';
import { methodName } from '../classify/methods.ts';
import { describeTransaction } from '../classify/rules.ts';
import { isSpamMove, isSpamRow, type TrustOf } from '../classify/spam.ts';
import type { WalletTransaction } from '../classify/stored-moves.ts';
import { type ContractTexts, shortAmount, type Wording } from '../classify/wording.ts';
import type { Approval, Erc20Movement, NativeMovement, NftMovement, Verification } from '../decode/domain.ts';
import type { WalletCreditRow } from './history-store.ts';
import type { Reconciliation } from './reconciliation.ts';

/** Converts a stored transaction to the contract's record, from its wallet's point of view. */
export function toRecord(row: WalletTransaction, wording: Wording): HistoryRecord {
  const { transaction, moves } = row;
  const { currency } = wording;
  return {
    hash: row.hash,
    nonce: transaction.nonce?.toString() ?? null,
    transaction_index: row.index.toString(),
    from_address: transaction.from,
    to_address: transaction.to,
    value: transaction.value.toString(),
    gas: transaction.gas?.toString() ?? null,
    gas_price: transaction.gasPrice?.toString() ?? null,
    ...(transaction.gasUsed !== null && { receipt_gas_used: transaction.gasUsed.toString() }),
    receipt_status: transaction.succeeded ? '1' : '0',
    transaction_fee: transaction.fee === null ? null : formatUnits(transaction.fee, currency.decimals),
    ...(transaction.feePayer !== null && { fee_payer: transaction.feePayer }),
    ...(transaction.feePayerPercent !== undefined && { fee_payer_percent: transaction.feePayerPercent }),
    block_timestamp: row.blockTime.toISOString(),
    block_number: row.blockNumber.toString(),
    block_hash: row.blockHash,
    ...(transaction.created !== null && { created_contract: transaction.created }),
    ...(row.internalCalls !== null && { internal_calls: row.internalCalls }),
    ...describeTransaction(row, wording),
    method_label: methodName(transaction.selector),
    possible_spam: isSpamRow(row, trustIn(wording.texts)),
    native_transfers: moves.native.map((movement) => nativeTransfer(movement, row, wording)),
    erc20_transfers: moves.erc20.map((movement) => erc20Transfer(movement, row, wording)),
    nft_transfers: moves.nft.map((movement) => nftTransfer(movement, row, wording)),
    approvals: moves.approvals.map((approval) => approvalOf(approval, wording)),
  };
}

const creditNames = {
  withdrawal: 'withdrawal',
  fees: 'priority_fees',
  block: 'block_reward',
  uncle: 'uncle_reward',
} as const;

/** Converts a stored credit to the contract's form. */
export function toCredit(row: WalletCreditRow, { currency }: Pick<Wording, 'currency'>): WalletCredit {
  const { kind, amount, validatorIndex } = row;
  const text = `${shortAmount(amount, currency.decimals)} ${currency.symbol}`;
  const summaries = {
    withdrawal: `Withdrew ${text} of the stake of validator ${validatorIndex ?? 'unknown'}`,
    fees: `Received ${text} of fees for block ${row.blockNumber}`,
    block: `Received ${text} for block ${row.blockNumber}`,
    uncle: `Received ${text} for an uncle that block ${row.blockNumber} names`,
  };
  return {
    kind: creditNames[kind],
    value: amount.toString(),
    value_formatted: formatUnits(amount, currency.decimals),
    token_symbol: currency.symbol,
    block_number: row.blockNumber.toString(),
    block_hash: row.blockHash,
    block_timestamp: row.blockTime.toISOString(),
    validator_index: validatorIndex,
    withdrawal_index: row.withdrawalIndex,
    summary: summaries[kind],
  };
}

function approvalOf({ token, spender, kind, value, granted, logIndex }: Approval, { texts }: Wording) {
  const { name = null, symbol = null, decimals = null } = texts.get(token) ?? {};
  const isAmount = kind === 'amount';
  return {
    token_address: token,
    token_name: name,
    token_symbol: symbol,
    spender,
    kind,
    amount: isAmount ? value.toString() : null,
    value_formatted: isAmount && decimals !== null ? formatUnits(value, decimals) : null,
    token_id: kind === 'token' ? value.toString() : null,
    granted,
    log_index: logIndex,
  };
}

const trustIn =
  (texts: ContractTexts): TrustOf =>
  (token) =>
    texts.get(token)?.trust ?? 'unknown';

function imitationOf(token: string, texts: ContractTexts): { readonly imitates?: string } {
  const imitates = texts.get(token)?.imitates;
  return imitates === undefined ? {} : { imitates };
}

type Verified = Pick<Erc20Movement, 'from' | 'verification'>;

function verificationOf(
  { from, verification }: Verified,
  { transaction }: WalletTransaction,
): Verification | 'unknown' {
  return verification ?? (from === transaction.from ? 'signed' : 'unknown');
}

function directionOf(from: string, wallet: string): 'send' | 'receive' {
  return from === wallet ? 'send' : 'receive';
}

function nativeTransfer(movement: NativeMovement, { wallet }: WalletTransaction, { currency }: Wording) {
  return {
    from_address: movement.from,
    to_address: movement.to,
    value: movement.value.toString(),
    value_formatted: formatUnits(movement.value, currency.decimals),
    direction: directionOf(movement.from, wallet),
    internal_transaction: movement.internal,
    token_symbol: currency.symbol,
    token_logo: null,
  };
}

function erc20Transfer(movement: Erc20Movement, row: WalletTransaction, { texts }: Wording) {
  const { name = null, symbol = null, decimals = null } = texts.get(movement.token) ?? {};
  return {
    token_name: name,
    token_symbol: symbol,
    token_logo: null,
    token_decimals: decimals === null ? null : decimals.toString(),
    address: movement.token,
    block_timestamp: row.blockTime.toISOString(),
    from_address: movement.from,
    to_address: movement.to,
    value: movement.value.toString(),
    value_formatted: decimals === null ? null : formatUnits(movement.value, decimals),
    direction: directionOf(movement.from, row.wallet),
    log_index: movement.logIndex,
    possible_spam: isSpamMove(movement, row, trustIn(texts)),
    verification: verificationOf(movement, row),
    ...(movement.received !== undefined && { value_received: movement.received.toString() }),
    verified_contract: trustIn(texts)(movement.token) === 'verified',
    ...imitationOf(movement.token, texts),
  };
}

function nftTransfer(movement: NftMovement, row: WalletTransaction, { texts }: Wording) {
  const { wallet, transaction } = row;
  const { name = null, symbol = null } = texts.get(movement.token) ?? {};
  return {
    token_address: movement.token,
    token_id: movement.tokenId.toString(),
    token_name: name,
    token_symbol: symbol,
    from_address: movement.from,
    to_address: movement.to,
    value: transaction.value.toString(),
    amount: movement.amount.toString(),
    contract_type: movement.standard,
    transaction_type: movement.batch ? 'Batch' : 'Single',
    log_index: movement.logIndex,
    ...(movement.operator !== null && { operator: movement.operator }),
    direction: directionOf(movement.from, wallet),
    possible_spam: isSpamMove(movement, row, trustIn(texts)),
    verification: verificationOf(movement, row),
    ...(trustIn(texts)(movement.token) === 'verified' && { verified_collection: true }),
  };
}

/** Converts a reconciliation to the contract's form. */
export function toReconciled(found: Reconciliation): Reconciled {
  const { address, blockNumber, blockHash, balance, expected, unattributed, status, sums } = found;
  return {
    body: {
      address,
      block_number: blockNumber.toString(),
      block_hash: blockHash,
      balance: balance.toString(),
      expected: expected.toString(),
      difference: (balance - expected).toString(),
      unattributed: unattributed.toString(),
      status,
      movements: sums.moved.toString(),
      fees: sums.fees.toString(),
      withdrawals: sums.withdrawals.toString(),
      rewards: sums.rewards.toString(),
      reasons: found.reasons.map(({ cause, amount, count }) => ({
        reason: cause,
        amount: amount?.toString() ?? null,
        count: count?.toString() ?? null,
      })),
    },
    completeTo: found.completeTo,
    coverage: found.coverage,
  };
}
