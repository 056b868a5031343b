import type { OnGet } from '../cache.ts';
import type { Metrics } from '../metrics.ts';

/** Counts where balances come from. */
export function createBalanceMetrics(metrics: Metrics): OnGet {
  const reads = metrics.counter({
    name: 'tallystick_balance_reads_total',
    help: 'Balances that were read: from the cache (hit), with a question under way (joined), or from a node (miss).',
    labels: ['from'],
  });
  return (from) => reads.inc({ from });
}
