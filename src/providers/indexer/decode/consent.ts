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
  const loud = new Set([transaction.to, created, ...logs.map(({ address }) => address)]);
  const named = [
    ...[...erc20.filter(({ kind }) => kind === 'transfer'), ...nft]
      .filter(({ from }) => from !== zeroAddress && !signers.has(from))
      .map(({ from, logIndex }) => ({ logIndex, isLoud: loud.has(from) })),
    ...approvals
      .filter(({ owner }) => !signers.has(owner))
      .map(({ logIndex }) => ({ logIndex, isLoud: false })),
  ];
  const indexesOf = (wanted: boolean) => [
    ...new Set(named.filter(({ isLoud }) => isLoud === wanted).map(({ logIndex }) => logIndex)),
  ];
  return {
    erc20: mark(erc20),
    nft: mark(nft),
    approvals: approvals.map((each) => (signers.has(each.owner) ? each : { ...each, unsigned: true })),
    suspects: indexesOf(false),
    loudSuspects: indexesOf(true),
  };
}

const nothing: Consented = { erc20: [], nft: [], approvals: [], suspects: [], loudSuspects: [] };
