import type { Logger } from '../base/log.ts';
import { createLogMetrics } from '../base/log-lines.ts';
import type { Metrics } from '../base/metrics.ts';
import { createRpcMetrics } from '../chain/rpc/client/rpc-metrics.ts';
import { createReplicaMetrics } from '../db/replica/replica-metrics.ts';
import { createRequestMetrics } from '../http/mounts/metrics.ts';
import { createJobMetrics } from '../jobs/job-metrics.ts';
import { createVerifierMeter } from '../keys/verifier-metrics.ts';
import { createIndexObserver } from '../providers/indexer/index-observer.ts';
import { createMoralisMetrics } from '../providers/moralis/moralis-metrics.ts';
import { createMintObserver } from '../rwa/mint-worker/mint-observer.ts';
import { createLedgerObserver } from '../rwa/ownership/ledger-levels.ts';

/** Functions that the parts call with what they did; metrics and log lines are made of it. */
export type Observers = ReturnType<typeof createObservers>;

/** Registers the metrics of every role: a process in one role exposes the names of the others without values. */
export function createObservers(metrics: Metrics, log: Logger) {
  return {
    answered: createRequestMetrics(metrics),
    index: createIndexObserver(metrics),
    jobs: createJobMetrics(metrics),
    logLineDropped: createLogMetrics(metrics),
    meterVerifier: createVerifierMeter(metrics),
    minting: createMintObserver(metrics, log),
    moralis: createMoralisMetrics(metrics),
    nodes: createRpcMetrics(metrics),
    owners: createLedgerObserver(metrics, log),
    replica: createReplicaMetrics(metrics),
  };
}
