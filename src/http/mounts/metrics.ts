import { Router } from 'express';
import type { Metrics } from '../../base/metrics.ts';
import type { OnAnswered } from '../server/request-context.ts';

/** Creates the router of `/metrics`, for Prometheus. */
export function createMetricsRouter(metrics: Metrics): Router {
  const router = Router({ strict: true, caseSensitive: true });
  router.get('/metrics', async (_request, response) => {
    const { contentType, text } = await metrics.scrape();
    response.set({ 'Cache-Control': 'no-store', 'Content-Type': contentType }).end(text);
  });
  return router;
}

/** Measures responses by names from the documents, never by input of callers, so that there are few series. */
export function createRequestMetrics(metrics: Metrics): OnAnswered {
  const durations = metrics.histogram({
    name: 'tallystick_http_request_duration_seconds',
    help: 'Time from the head of a request to the end of its answer. Its count is the number of requests.',
    labels: ['area', 'operation', 'status'],
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
  });
  const problems = metrics.counter({
    name: 'tallystick_http_problems_total',
    help: 'Requests answered with a problem, by its code.',
    labels: ['area', 'operation', 'code'],
  });
  return ({ area = 'none', operationId: operation = 'none', code }, status, seconds) => {
    // Without a status the caller disconnected before the answer.
    durations.observe(
      { area, operation, status: status === undefined ? 'aborted' : String(status) },
      seconds,
    );
    if (code !== undefined) problems.inc({ area, operation, code });
  };
}
