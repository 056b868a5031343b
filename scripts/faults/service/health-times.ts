import { type Answer, quantile } from '../../load/answers.ts';
import { createCaller } from '../../load/caller.ts';
import { startLoad } from '../../load/steady-load.ts';
import type { Stage } from './fault.ts';
import { deadlineMs } from './usual-load.ts';

/** How `/healthz` of the replicas was answered, in milliseconds. */
export type HealthTimes = {
  readonly asked: number;
  readonly p99Ms: number;
  readonly longestMs: number;
  /** Not by 200, or later than those wait who restart what does not answer. */
  readonly failed: number;
};

/** As long as a probe of Kubernetes waits unless told otherwise. */
export const probeMs = 1_000;
const perSecond = 10;
/** Of nobody else, so that nothing is kept from it for what others do. */
const address = '127.0.4.1';

/**
 * Asks each replica that answers callers for `/healthz`, past the balancer as probes do, ten times a second.
 * @returns what ends it, with the answers
 */
export function watchHealth({ service }: Stage): () => Promise<readonly Answer[]> {
  const callers = service
    .apis()
    .map(({ port }) => createCaller({ port, company: 'probe', key: undefined, address, deadlineMs }));
  const load = startLoad({
    callers,
    next: () => ({ kind: 'healthz', method: 'GET', path: '/healthz' }),
    perSecond: perSecond * callers.length,
  });
  return async () => {
    await load.stop();
    for (const caller of callers) caller.close();
    return load.answers;
  };
}

export function healthTimes(answers: readonly Answer[]): HealthTimes {
  const times = answers.map(({ ms }) => ms);
  return {
    asked: answers.length,
    p99Ms: Math.round(quantile(times, 0.99)),
    longestMs: Math.round(Math.max(0, ...times)),
    failed: answers.filter((answer) => answer.class !== 'ok' || answer.ms > probeMs).length,
  };
}
