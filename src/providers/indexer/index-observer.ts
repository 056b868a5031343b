import type { Metrics } from '../../base/metrics.ts';
import type { IndexedBlock } from './decode/domain.ts';
import type { Follower, FollowerEvents } from './follow/follower.ts';

/** Counts what the parts of an index do. */
export type IndexObserver = {
  /** Callbacks of a follower, called after each write. */
  events(chainId: string): FollowerEvents;
  /** The same follower, with its failures counted. */
  follower(chainId: string, follower: Follower): Follower;
};

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
  return {
    events: (chainId) => ({
      onAppend(blocks, isNewest) {
        const newest = isNewest ? blocks.at(-1) : undefined;
        if (newest !== undefined) {
          // The clock of the block's maker may be ahead.
          const seconds = Math.max(0, Date.now() / 1_000 - Number(newest.header.timestamp));
          freshness.observe({ chain_id: chainId }, seconds);
        }
        for (const [kind, count] of Object.entries(countsOf(blocks))) {
          rows.inc({ chain_id: chainId, kind }, count);
        }
      },
      onRollBack: () => rollBacks.inc({ chain_id: chainId }),
    }),
    follower(chainId, follower) {
      // Starts the series at 0: a rate does not see the first event of a new series.
      for (const counter of [rollBacks, failures]) counter.inc({ chain_id: chainId }, 0);
      return {
        ...follower,
        step: () =>
          follower.step().catch((error: unknown) => {
            failures.inc({ chain_id: chainId });
            throw error;
          }),
      };
    },
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
