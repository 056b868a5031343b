import type { Metrics } from '../../base/metrics.ts';
import type { IndexedBlock } from './decode/domain.ts';
import type { FollowerEvents } from './follow/follower.ts';

/** Counts what the follower of a network does. */
export type IndexObserver = (chainId: string) => FollowerEvents;

export function createIndexObserver(metrics: Metrics): IndexObserver {
  const labels = ['chain_id'] as const;
  const rows = metrics.counter({
    name: 'tallystick_index_written_total',
    labels: [...labels, 'kind'],
    help: 'What was written to the index: blocks, transactions, and transfers in them.',
  });
  const freshness = metrics.histogram({
    name: 'tallystick_index_freshness_seconds',
    labels,
    help: 'Time from a block, by its own clock, to its rows in the index, where it was the newest one of the node.',
    buckets: [0.25, 0.5, 1, 2, 3, 4, 8, 15, 30, 60],
  });
  const rollBacks = metrics.counter({
    name: 'tallystick_index_reorganisations_total',
    labels,
    help: 'Reorganisations that the index followed by taking blocks back.',
  });
  const failures = metrics.counter({
    name: 'tallystick_index_failures_total',
    labels,
    help: 'Steps of an index that failed and were tried again, for whatever reason.',
  });

  return (chainId) => {
    const of = { chain_id: chainId };
    // Starts the series at 0: a rate does not see the first event of a new series.
    for (const counter of [rollBacks, failures]) counter.inc(of, 0);
    return {
      onAppend(blocks, isNewest) {
        const newest = isNewest ? blocks.at(-1) : undefined;
        if (newest !== undefined) {
          // The clock of the block's maker may be ahead.
          freshness.observe(of, Math.max(0, Date.now() / 1_000 - Number(newest.header.timestamp)));
        }
        for (const [kind, count] of Object.entries(countsOf(blocks))) rows.inc({ ...of, kind }, count);
      },
      onRollBack: () => rollBacks.inc(of),
      onFailure: () => failures.inc(of),
    };
  };
}

function countsOf(blocks: readonly IndexedBlock[]) {
  const counts = { blocks: blocks.length, transactions: 0, transfers: 0 };
  for (const { transactions } of blocks) {
    counts.transactions += transactions.length;
    for (const { native, erc20, nft } of transactions) {
      counts.transfers += native.length + erc20.length + nft.length;
    }
  }
  return counts;
}
