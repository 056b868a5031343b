import type { Metrics } from '../../base/metrics.ts';
import type { Database } from '../../contract/transaction.ts';
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
