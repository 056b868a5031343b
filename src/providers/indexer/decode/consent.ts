import { type Delegation, type Erc20Movement, type NftMovement, zeroAddress } from './domain.ts';
import type { RawLog, RawTransaction } from './raw-block.ts';

type Found = {
  readonly transaction: Pick<RawTransaction, 'from' | 'to'>;
  readonly created: string | null;
  readonly logs: readonly RawLog[];
  readonly erc20: readonly Erc20Movement[];
  readonly nft: readonly NftMovement[];
  readonly delegations: readonly Delegation[];
  readonly operationSenders: readonly string[];
};

/**
 * Returns what the transaction itself shows of who agreed to its transfers. Transfers whose sender signed something
 * else than the transaction are marked. Transfers whose sender shows no consent are listed. Any contract can log a
 * transfer in anybody's name.
 */
export function withConsent(found: Found): {
  readonly erc20: readonly Erc20Movement[];
  readonly nft: readonly NftMovement[];
  readonly suspects: readonly number[];
} {
  const { transaction, created, logs, delegations, operationSenders } = found;
  if (found.erc20.length + found.nft.length === 0) return { erc20: none, nft: none, suspects: none };
  const signers = new Set([...delegations.map(({ authority }) => authority), ...operationSenders]);
  signers.delete(transaction.from);
  const mark = <Movement extends Erc20Movement | NftMovement>(movements: readonly Movement[]) =>
    signers.size === 0
      ? movements
      : movements.map((each) =>
          signers.has(each.from) ? { ...each, verification: 'signed' as const } : each,
        );
  // An address that logs is a contract, and so is an address that is called.
  const emitters = logs.map(({ address }) => address);
  const known = new Set([transaction.from, transaction.to, created, zeroAddress, ...signers, ...emitters]);
  const suspects = [...found.erc20.filter(({ kind }) => kind === 'transfer'), ...found.nft]
    .filter(({ from }) => !known.has(from))
    .map(({ logIndex }) => logIndex);
  return { erc20: mark(found.erc20), nft: mark(found.nft), suspects: [...new Set(suspects)] };
}

const none: readonly never[] = [];
