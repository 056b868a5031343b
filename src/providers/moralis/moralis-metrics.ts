import type { Metrics } from '../../base/metrics.ts';
import type { MoralisClientOptions } from './client.ts';
import type { OnRepair } from './repairs.ts';

export type MoralisObserver = {
  readonly onTry: NonNullable<MoralisClientOptions['onTry']>;
  readonly onRepair: OnRepair;
};

/** Counts the requests to the hosted data provider by try and outcome, and the repairs of its answers. */
export function createMoralisMetrics(metrics: Metrics): MoralisObserver {
  const requests = metrics.counter({
    name: 'tallystick_moralis_requests_total',
    help: 'Requests to the hosted data provider: 2xx, 4xx, 5xx, or why there was no usable answer.',
    labels: ['outcome'],
  });
  const repairs = metrics.counter({
    name: 'tallystick_moralis_repairs_total',
    help: 'Fields of the hosted data provider that did not fit, so that they were left out or replaced.',
    labels: ['field'],
  });
  return {
    onTry: (outcome) => requests.inc({ outcome }),
    onRepair: (field) => repairs.inc({ field }),
  };
}
