import { setTimeout as wait } from 'node:timers/promises';
import type { Logger } from '../../base/log.ts';
import { createLogWidth, type LogWidth } from '../../chain/minting/log-scan.ts';
import type { NetworkRegistry } from '../../chain/networks.ts';
import type { Network } from '../../chain/rpc/client/network.ts';
import type { RpcClients } from '../../chain/rpc/client/rpc-clients.ts';
import type { Database } from '../../contract/transaction.ts';
import { type LeasedLoop, startLeasedLoop } from '../../db/leases/leased-loop.ts';
import { followTransfers, type OnLedgerStep, type OnUnread } from './follow.ts';
import { type ReadLedgers, takeSnapshots } from './take-snapshots.ts';

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
  const loops = new Map<string, LeasedLoop>();
  let arranging: Promise<void> | undefined;
  const rest = (until: AbortSignal) => wait(pollMs, undefined, { signal: until }).catch(() => {});

  /** Polls a network while this process has its lease. */
  const lead = async (chainId: string, lost: AbortSignal) => {
    const width = createLogWidth();
    const failed = new Set<string>();
    // A pass over many holders takes longer than a poll. Owners are read meanwhile.
    let pass: Promise<void> | undefined;
    const take = (read: ReadLedgers) =>
      takeSnapshots({ ...read, db, failed, signal: lost })
        .catch((err: unknown) => {
          if (!lost.aborted) log.warn({ err, chainId }, 'not all snapshots could be taken, trying again');
        })
        .finally(() => {
          pass = undefined;
        });
    while (!lost.aborted) {
      const network = await networks.find(chainId);
      const read = network && (await poll(network, width, lost));
      if (read !== undefined && !lost.aborted) pass ??= take(read);
      await rest(lost);
    }
    await pass;
  };

  const poll = (network: Network, width: LogWidth, lost: AbortSignal): Promise<ReadLedgers | undefined> =>
    followTransfers({
      db,
      network,
      pinNode: (of, known) => clients.pool(of).pin({ ...of, known }),
      width,
      signal: lost,
      onUnread,
      ...(step && { step }),
    }).catch((err: unknown) => {
      if (!lost.aborted)
        log.warn({ err, chainId: network.chainId }, 'owners could not be read, trying again');
      return undefined;
    });

  /** Follows networks that were registered, and leaves networks that are gone. */
  const arrange = async () => {
    const chainIds = (await networks.list()).map(({ chainId }) => chainId);
    for (const chainId of chainIds) {
      if (loops.has(chainId)) continue;
      const run = (lost: AbortSignal) => lead(chainId, lost);
      loops.set(chainId, startLeasedLoop({ db, log, name: `ownership ${chainId}`, run }));
    }
    for (const [chainId, loop] of loops) {
      if (chainIds.includes(chainId)) continue;
      await loop.stop();
      loops.delete(chainId);
    }
  };

  const arrangeAll = async () => {
    while (!signal.aborted) {
      await arrange().catch((err: unknown) =>
        log.warn({ err }, 'the networks whose owners are read are not known'),
      );
      await rest(signal);
    }
  };

  return {
    start() {
      arranging = arrangeAll();
    },
    async stop() {
      stopping.abort();
      await arranging;
      await Promise.all([...loops.values()].map((loop) => loop.stop()));
    },
  };
}
