import { formatUnits } from '../chain/decimal.ts';
import type { components } from '../contract/generated/blockchain.ts';
import type { Balance, BalanceQuestion } from './balance-reader.ts';

type TokenBalance = components['schemas']['TokenBalance'];

/** Converts a balance to the contract's form. */
export function balanceToApi(question: BalanceQuestion, balance: Balance): TokenBalance {
  const { amount, decimals } = balance;
  return {
    // The registry keeps chain ids within the integers that a JSON number holds exactly.
    chainId: Number(question.network.chainId),
    address: question.address,
    ...(question.contractAddress === null ? {} : { contractAddress: question.contractAddress }),
    balance: amount.toString(),
    decimals,
    symbol: balance.symbol,
    name: balance.name,
    formatted: decimals === null ? null : formatUnits(amount, decimals),
    blockNumber: balance.blockNumber.toString(),
    updatedAt: balance.updatedAt.toISOString(),
  };
}
