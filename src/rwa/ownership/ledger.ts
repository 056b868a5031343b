import { setTimeout as wait } from 'node:timers/promises';
import type { Logger } from '../../base/log.ts';
import { createLogWidth } from '../../chain/minting/log-scan.ts';
import type { NetworkRegistry } from '../../chain/networks.ts';
import type { RpcClients } from '../../chain/rpc/client/rpc-clients.ts';
import type { Database } from '../../contract/transaction.ts';
import { withLease } from '../../db/leases/lease.ts';
import { followTransfers, type OnLedgerStep, type OnUnread } from './follow.ts';

/** Follows who owns the NFTs of all networks. Of several processes, one follows a network at a time. */
export type OwnershipLedger = {
  start(): void;
  /** Ends after what is being read. */
  stop(): Promise<void>;
};

export type LedgerOptions = {
  readonly db: Database;
  readonly networks: Pick<NetworkRegistry, 'find' | 'list'>;
  readonly clients: Pick<RpcClients, 'pool'>;
  readonly log: Logger;
  /** Between two polls of a network. */
  readonly pollMs: number;
  /** Called with each contract that a poll could not read. */
  readonly onUnread: OnUnread;
  readonly step?: OnLedgerStep | undefined;
};

export function createOwnershipLedger(options: LedgerOptions): OwnershipLedger {
  const { db, networks, clients, log, pollMs, onUnread, step } = options;
  const stopping = new AbortController();
  const { signal } = stopping;
  const following = new Map<string, Promise<void>>();
  let arranging: Promise<void> | undefined;
  const rest = (until: AbortSignal) => wait(pollMs, undefined, { signal: until }).catch(() => {});

  /** Polls a network while this process has its lease and the network is registered. */
  const lead = async (chainId: string, lost: AbortSignal) => {
    const width = createLogWidth();
    while (!lost.aborted) {
      const network = await networks.find(chainId);
      if (network === undefined) return;
      await followTransfers({
        db,
        network,
        pinNode: (of, known) => clients.pool(of).pin({ ...of, known }),
        width,
        signal: lost,
        onUnread,
        ...(step && { step }),
      }).catch((err: unknown) => {
        if (!lost.aborted) log.warn({ err, chainId }, 'owners could not be read, trying again');
      });
      await rest(lost);
    }
  };

  const follow = (chainId: string) =>
    withLease({ db, name: `ownership ${chainId}`, log, signal }, (lost) => lead(chainId, lost));

  const arrange = async () => {
    while (!signal.aborted) {
      const all = await networks.list().catch((err: unknown) => {
        log.warn({ err }, 'the networks whose owners are read are not known');
        return [];
      });
      for (const { chainId } of all) {
        if (following.has(chainId)) continue;
        const ended = follow(chainId)
          .catch((err: unknown) => {
            if (!signal.aborted) log.warn({ err, chainId }, 'owners are not read');
          })
          .finally(() => following.delete(chainId));
        following.set(chainId, ended);
      }
      await rest(signal);
    }
  };

  return {
    start() {
      arranging = arrange();
    },
    async stop() {
      stopping.abort();
      await arranging;
      await Promise.all(following.values());
    },
  };
}
