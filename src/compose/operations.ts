import { watchNodes } from '../chain/rpc/client/node-levels.ts';
import { createMetricsRouter } from '../http/mounts/metrics.ts';
import type { App } from '../http/server/app-classes.ts';
import { watchJobs, watchSchedule } from '../jobs/job-metrics.ts';
import { watchNews } from '../news/feed/news-levels.ts';
import { watchBreakers } from '../outgoing/breaker-levels.ts';
import { watchIndexes } from '../providers/indexer/index-levels.ts';
import { watchDisagreements, watchLanes, watchMinting } from '../rwa/mint-worker/mint-levels.ts';
import type { MintWorker } from '../rwa/mint-worker/mint-worker.ts';
import { watchLedgers } from '../rwa/ownership/ledger-levels.ts';
import { createMountedApp } from './app.ts';
import { createReadiness } from './health.ts';
import { jobQueues } from './job-queues.ts';
import type { Parts } from './parts.ts';

export type OperationsOptions = {
  /** Undefined in a process without the role `worker`. */
  readonly minter: MintWorker | undefined;
  /** False while the process starts or stops. */
  readonly isServing: () => boolean;
};

/** The Express app for operators: health and metrics of a process in any role. Its requests are not counted. */
export function createOperationsApp(parts: Parts, { minter, isServing }: OperationsOptions): App {
  const { metrics, log } = parts;
  metrics.watchProcess();
  watchNodes(metrics, parts);
  watchBreakers(metrics, parts.outgoing);
  watchWork(parts, minter);
  return createMountedApp({
    log,
    mounts: [
      { path: '/', handler: createReadiness(parts, isServing, { minter }) },
      { path: '/', handler: createMetricsRouter(metrics) },
    ],
  });
}

/** A process with the role `api` reports lanes, jobs and indexes too: it is there when nobody works on them. */
function watchWork(parts: Parts, minter: MintWorker | undefined): void {
  const { metrics, config, db } = parts;
  const isApi = config.ROLES.includes('api');
  if (minter !== undefined) {
    watchDisagreements(metrics, parts);
    watchLedgers(metrics, parts);
    watchMinting(metrics, { ...parts, signers: minter.signers });
    watchJobs(metrics, parts.jobs);
  } else if (isApi) {
    watchLanes(metrics, parts);
  }
  if (minter !== undefined || isApi) watchNews(metrics, parts);
  if (minter !== undefined || isApi) watchSchedule(metrics, { db, queues: jobQueues.scheduled });
  if (isApi || config.ROLES.includes('indexer')) watchIndexes(metrics, parts);
}
