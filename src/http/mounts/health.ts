import { Router } from 'express';
import { inTime } from '../../in-time.ts';

/** What must work before this process takes traffic. A check that throws or takes over 2 s has failed. */
export type HealthCheck = { readonly name: string; readonly run: () => Promise<void> };

const checkTimeoutMs = 2_000;

/**
 * `/healthz`: the process answers. `/readyz`: it also has what it needs; 503 with the names of what
 * fails otherwise, and while it is starting or stopping. Neither tells why: reasons go to the log.
 */
export function createHealthRouter(options: {
  readonly checks: readonly HealthCheck[];
  readonly isServing: () => boolean;
  readonly onFailure: (name: string, error: unknown) => void;
}): Router {
  const router = Router({ strict: true, caseSensitive: true });
  router.get('/healthz', (_request, response) => {
    response.set('Cache-Control', 'no-store').json({ status: 'ok' });
  });
  router.get('/readyz', async (_request, response) => {
    const results = await Promise.all(
      options.checks.map(
        async ({ name, run }) => [name, await passes(name, run, options.onFailure)] as const,
      ),
    );
    const ready = options.isServing() && results.every(([, ok]) => ok);
    const checks = Object.fromEntries(results.map(([name, ok]) => [name, ok ? 'ok' : 'failing']));
    response
      .status(ready ? 200 : 503)
      .set('Cache-Control', 'no-store')
      .json({ status: ready ? 'ready' : 'not ready', checks });
  });
  return router;
}

async function passes(
  name: string,
  run: () => Promise<void>,
  onFailure: (name: string, error: unknown) => void,
): Promise<boolean> {
  try {
    await inTime(run(), checkTimeoutMs);
    return true;
  } catch (error) {
    onFailure(name, error);
    return false;
  }
}
