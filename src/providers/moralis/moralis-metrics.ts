import type { Metrics } from '../../base/metrics.ts';
import type { MoralisClientOptions } from './client.ts';

/** Counts the requests to the hosted data provider, by try and outcome. */
export function createMoralisMetrics(metrics: Metrics): NonNullable<MoralisClientOptions['onTry']> {
  const requests = metrics.counter({
    name: 'tallystick_moralis_requests_total',
    help: 'Requests to the hosted data provider: 2xx, 4xx, 5xx, or why there was no usable answer.',
    labels: ['outcome'],
  });
  const retries = metrics.counter({
    name: 'tallystick_moralis_retries_total',
    help: 'Requests to the hosted data provider that repeat a failed request.',
  });
  return (tries, outcome) => {
    requests.inc({ outcome });
    if (tries > 1) retries.inc();
  };
}
