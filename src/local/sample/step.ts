import { callData } from '../../chain/contracts/contract-calls.ts';
import { type ContractAddresses, type ContractName, worldContracts } from './contracts.ts';

export type StoryStep = {
  readonly from: string;
  /** Null creates a contract. */
  readonly to: string | null;
  readonly data?: string;
  /** In wei. */
  readonly value?: bigint;
  readonly gas: bigint;
  /** Set when the transaction is meant to fail on the chain. */
  readonly fails?: true;
};

/** Transactions of one block. None may depend on another sender's transaction in the same block. */
export type StoryBlock = readonly StoryStep[];

/** The native currency has 18 decimals, the sample token 6. */
export const coins = (hundredths: number): bigint => BigInt(hundredths) * 10n ** 16n;
export const dollars = (whole: number): bigint => BigInt(whole) * 10n ** 6n;

const callGas = 250_000n;

export type StoryCaller = (
  from: string,
  name: ContractName,
  method: string,
  ...args: readonly unknown[]
) => StoryStep;

/** Creates calls to the contracts at their addresses. */
export function createCaller(addresses: ContractAddresses): StoryCaller {
  return (from, name, method, ...args) => ({
    from,
    to: addresses[name],
    data: callData(worldContracts[name], method, args),
    gas: callGas,
  });
}

export const pay = (from: string, to: string, value: bigint): StoryStep => ({
  from,
  to,
  value,
  gas: 21_000n,
});

/** The entry at an index modulo the length of the list. @throws RangeError for an empty list */
export function around<T>(list: readonly T[], place: number): T {
  const entry = list[place % list.length];
  if (entry === undefined) throw new RangeError('a list without entries has no places');
  return entry;
}

/** Splits a list into parts of at most `size` entries. */
export function chunks<T>(list: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(list.length / size) }, (_, part) =>
    list.slice(part * size, (part + 1) * size),
  );
}
