import { zeroAddress } from '../../../chain/address.ts';
import type { LogFindings } from './domain.ts';
import type { RawLog, RawTransaction } from './raw-block.ts';

type Movements = Pick<LogFindings, 'erc20' | 'nft' | 'approvals'>;

type Found = Movements &
  Pick<LogFindings, 'operations' | 'borrowers'> & {
    readonly transaction: Pick<RawTransaction, 'from' | 'to'>;
    readonly created: string | null;
    readonly logs: readonly RawLog[];
  };

type Consented = Movements & {
  readonly suspects: readonly number[];
  readonly loudSuspects: readonly number[];
  readonly borrowers: readonly string[];
};

/**
 * Returns the accounts that agreed to the transfers and approvals of a transaction, as far as the transaction itself
 * shows them. Its sender has signed the whole transaction. The sender of a user operation has signed the logs from the
 * end of the operation before to the end of its own: a bundle has operations of several accounts, and anybody may
 * bundle. Logs that name anybody else are listed, because any contract can log anything in anybody's name. An account
 * that logs or is called is a contract or has a delegate. A person who neither signed nor is called has not borrowed,
 * whatever a contract logs.
 */
export function withConsent(found: Found): Consented {
  const { transaction, created, logs, operations, borrowers, erc20, nft, approvals } = found;
  if (erc20.length + nft.length + approvals.length + borrowers.length === 0) return nothing;
  const isOperator = (account: string, logIndex: number) =>
    operations.find((end) => end.logIndex > logIndex)?.signer === account;
  const hasSigned = (account: string, { logIndex }: Logged) =>
    account === transaction.from || isOperator(account, logIndex);
  const mark = <Movement extends Logged & { readonly from: string }>(movements: readonly Movement[]) =>
    operations.length === 0
      ? movements
      : movements.map((each) =>
          isOperator(each.from, each.logIndex) ? { ...each, verification: 'signed' as const } : each,
        );
  const isNamed = (move: Logged & { readonly from: string }) =>
    move.from !== zeroAddress && !hasSigned(move.from, move);
  const named = [
    ...erc20.filter((move) => move.kind === 'transfer' && isNamed(move)),
    ...nft.filter(isNamed),
  ];
  const unsigned = approvals.filter((each) => !hasSigned(each.owner, each));
  const consented = { erc20: mark(erc20), nft: mark(nft) };
  if (named.length + unsigned.length + borrowers.length === 0) return { ...nothing, ...consented, approvals };
  const loud = new Set([transaction.to, created, ...logs.map(({ address }) => address)]);
  const quiet = named.filter(({ from }) => !loud.has(from));
  return {
    ...consented,
    approvals: approvals.map((each) => (hasSigned(each.owner, each) ? each : { ...each, unsigned: true })),
    suspects: indexesOf([...quiet, ...unsigned]),
    loudSuspects: indexesOf(named.filter(({ from }) => loud.has(from))),
    borrowers: borrowers
      .filter(({ account, ...log }) => hasSigned(account, log) || loud.has(account))
      .map(({ account }) => account),
  };
}

type Logged = { readonly logIndex: number };

const indexesOf = (logged: readonly Logged[]): readonly number[] => [
  ...new Set(logged.map(({ logIndex }) => logIndex)),
];

const nothing: Consented = {
  erc20: [],
  nft: [],
  approvals: [],
  suspects: [],
  loudSuspects: [],
  borrowers: [],
};
