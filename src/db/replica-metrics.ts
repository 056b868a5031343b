import type { Metrics } from '../metrics.ts';
import type { ReadAt, ReplicaReads } from './replica-reads.ts';
import { replicaStates } from './replica-watch.ts';

export type ReplicaMetrics = {
  readonly onRead: (at: ReadAt) => void;
  /** From now on the gauges tell of this replica. */
  watch(replica: Pick<ReplicaReads, 'state' | 'lagMs'>): void;
};

/** Counts reads that may lag by where they were answered, and tells how the replica is. */
export function createReplicaMetrics(metrics: Metrics): ReplicaMetrics {
  let watched: Pick<ReplicaReads, 'state' | 'lagMs'> | undefined;
  const reads = metrics.counter({
    name: 'tallystick_replica_reads_total',
    help: 'Reads that may lag, by where they were answered: replica, primary, or again at the primary after the replica had failed. None without a replica.',
    labels: ['at'],
  });
  metrics.levels({
    gauges: {
      state: {
        name: 'tallystick_replica_state',
        help: '1 for how the replica is to this process: starting, used, lagging, silent, promoted or foreign; 0 for the rest.',
        labels: ['state'],
      },
      lag: {
        name: 'tallystick_replica_lag_seconds',
        help: 'How old what the replica shows is at most.',
      },
    },
    sources: () => [
      {
        name: 'replica',
        read: async () => {
          if (watched === undefined) return {};
          const [now, lagMs] = [watched.state(), watched.lagMs()];
          return {
            state: replicaStates.map((state) => ({ labels: { state }, value: state === now ? 1 : 0 })),
            ...(lagMs !== undefined && { lag: [{ labels: {}, value: lagMs / 1_000 }] }),
          };
        },
      },
    ],
  });
  return {
    onRead: (at) => reads.inc({ at }),
    watch(replica) {
      watched = replica;
    },
  };
}
