import type { Metrics } from '../../../base/metrics.ts';
import type { Database } from '../../../contract/transaction.ts';
import { countDisagreements } from '../../minting/compare/compared-contract-store.ts';

/** Registers how many tokens disagree with their rows. */
export function watchDisagreements(metrics: Metrics, { db }: { readonly db: Database }): void {
  metrics.levels({
    gauges: {
      disagreements: {
        name: 'tallystick_mint_disagreements',
        help: 'Tokens of which chain and rows do not say the same, as the audit found; stays at 0.',
        labels: ['chain_id'],
      },
    },
    sources: () => [
      {
        name: 'mint_disagreements',
        async read() {
          const networks = await countDisagreements(db);
          return {
            disagreements: networks.map(({ chainId, count }) => ({
              labels: { chain_id: chainId },
              value: count,
            })),
          };
        },
      },
    ],
  });
}
