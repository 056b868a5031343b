import { formatUnits } from '../chain/decimal.ts';
import type { Network } from '../chain/rpc/client/network.ts';
import type { components } from '../contract/generated/blockchain.ts';
import type { Seen } from '../providers/shared/provider.ts';
import type { Balance, BalanceQuestion } from './balance-reader.ts';

type TokenBalance = components['schemas']['TokenBalance'];

/** Converts a balance to the contract's form. */
export function balanceToApi(question: BalanceQuestion, balance: Balance): TokenBalance {
  const { amount, decimals } = balance;
  return {
    // The registry keeps chain ids within the exact integers of a JSON number.
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

/** Converts where a wallet was seen to the contract's form. */
export function chainToApi(
  { chainId, name }: Network,
  { first, last }: Seen,
): components['schemas']['WalletChain'] {
  return {
    chainId: Number(chainId),
    name,
    first_block: first.blockNumber.toString(),
    first_block_timestamp: first.blockTime.toISOString(),
    last_block: last.blockNumber.toString(),
    last_block_timestamp: last.blockTime.toISOString(),
  };
}
