import type { OnGet } from '../base/cache.ts';
import type { Metrics } from '../base/metrics.ts';

/** Creates a counter of balance reads by the source of the balance. */
export function createBalanceMetrics(metrics: Metrics): OnGet {
  const reads = metrics.counter({
    name: 'tallystick_balance_reads_total',
    help: 'Balances that were read: from the cache (hit), with a read in progress (joined), or from a node (miss).',
    labels: ['from'],
  });
  return (from) => reads.inc({ from });
}
