import type { Logger } from '../../base/log.ts';
import type { Metrics } from '../../base/metrics.ts';
import type { Database } from '../../contract/transaction.ts';
import type { OnUnread } from './follow.ts';
import { listDelays } from './ledger-store.ts';

/** Registers how far the ledgers of owners are behind. */
export function watchLedgers(metrics: Metrics, { db }: { readonly db: Database }): void {
  metrics.levels({
    gauges: {
      behind: {
        name: 'tallystick_ownership_behind_seconds',
        help: 'Time since the contract that is furthest behind was last read for transfers up to the newest confirmed block. Workers report it.',
        labels: ['chain_id'],
      },
    },
    sources: () => [
      {
        name: 'ownership',
        async read() {
          const delays = await listDelays(db);
          return {
            behind: delays.map(({ chainId, seconds }) => ({ labels: { chain_id: chainId }, value: seconds })),
          };
        },
      },
    ],
  });
}

/** Creates the observer that logs and counts, by contract, what could not be read of owners. */
export function createLedgerObserver(metrics: Metrics, log: Logger): OnUnread {
  const unread = metrics.counter({
    name: 'tallystick_ownership_unread_total',
    help: 'Polls that could not read the transfers of a contract. Other contracts were read all the same.',
    labels: ['chain_id', 'contract'],
  });
  return ({ chainId, contract }, err) => {
    unread.inc({ chain_id: chainId, contract });
    log.warn({ err, chainId, contract }, 'owners of a contract could not be read, trying again');
  };
}
