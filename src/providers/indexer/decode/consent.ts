import { type LogFindings, zeroAddress } from './domain.ts';
import type { RawLog, RawTransaction } from './raw-block.ts';

type Movements = Pick<LogFindings, 'erc20' | 'nft' | 'approvals'>;

type Found = Movements &
  Pick<LogFindings, 'operationSenders'> & {
    readonly transaction: Pick<RawTransaction, 'from' | 'to'>;
    readonly created: string | null;
    readonly logs: readonly RawLog[];
  };

type Consented = Movements & {
  readonly suspects: readonly number[];
  readonly loudSuspects: readonly number[];
};

/**
 * Returns what the transaction itself shows of who agreed to its transfers and approvals. Only its sender and the
 * senders of user operations in it have signed. Logs that name anybody else are listed, because any contract can log
 * anything in anybody's name. An account that logs or is called is a contract or has a delegate.
 */
export function withConsent(found: Found): Consented {
  const { transaction, created, logs, operationSenders, erc20, nft, approvals } = found;
  if (erc20.length + nft.length + approvals.length === 0) return nothing;
  const signers = new Set([transaction.from, ...operationSenders]);
  const mark = <Movement extends { readonly from: string }>(movements: readonly Movement[]) =>
    signers.size === 1
      ? movements
      : movements.map((each) =>
          each.from !== transaction.from && signers.has(each.from)
            ? { ...each, verification: 'signed' as const }
            : each,
        );
  const isNamed = ({ from }: { readonly from: string }) => from !== zeroAddress && !signers.has(from);
  const named = [
    ...erc20.filter((move) => move.kind === 'transfer' && isNamed(move)),
    ...nft.filter(isNamed),
  ];
  const unsigned = approvals.filter(({ owner }) => !signers.has(owner));
  const consented = { erc20: mark(erc20), nft: mark(nft) };
  if (named.length + unsigned.length === 0) return { ...nothing, ...consented, approvals };
  const loud = new Set([transaction.to, created, ...logs.map(({ address }) => address)]);
  const quiet = named.filter(({ from }) => !loud.has(from));
  return {
    ...consented,
    approvals: approvals.map((each) => (signers.has(each.owner) ? each : { ...each, unsigned: true })),
    suspects: indexesOf([...quiet, ...unsigned]),
    loudSuspects: indexesOf(named.filter(({ from }) => loud.has(from))),
  };
}

const indexesOf = (logged: readonly { readonly logIndex: number }[]): readonly number[] => [
  ...new Set(logged.map(({ logIndex }) => logIndex)),
];

const nothing: Consented = { erc20: [], nft: [], approvals: [], suspects: [], loudSuspects: [] };
