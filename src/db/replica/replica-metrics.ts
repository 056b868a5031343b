import type { Metrics } from '../../base/metrics.ts';
import type { ReplicaReads } from './replica-reads.ts';

export type ReplicaMetrics = {
  readonly onRead: (at: 'replica' | 'primary') => void;
  /** From now on the gauge shows this replica. */
  watch(replica: Pick<ReplicaReads, 'isUsed'>): void;
};

/** Counts reads that may lag by where they were answered, and shows whether the replica is used. */
export function createReplicaMetrics(metrics: Metrics): ReplicaMetrics {
  let watched: Pick<ReplicaReads, 'isUsed'> | undefined;
  const reads = metrics.counter({
    name: 'tallystick_replica_reads_total',
    help: 'Reads that may lag, by the server that answered: replica or primary. Without a replica there are none.',
    labels: ['at'],
  });
  metrics.levels({
    gauges: {
      used: {
        name: 'tallystick_replica_used',
        help: '1 while this process reads from the replica, 0 while the primary answers. The log has the reason.',
      },
    },
    sources: () => [
      {
        name: 'replica',
        read: async () =>
          watched === undefined ? {} : { used: [{ labels: {}, value: Number(watched.isUsed()) }] },
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
