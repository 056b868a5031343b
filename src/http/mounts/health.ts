import { Router } from 'express';
import { inTime } from '../../base/in-time.ts';

/** A dependency that must work before this process takes traffic. A check fails when it throws or takes over 2 s. */
export type HealthCheck = {
  readonly name: string;
  readonly run: () => Promise<void>;
  /** The process takes traffic all the same when the check fails; it is reported. */
  readonly isOptional?: boolean;
};

/** What a check throws while other work of the process goes on: it is reported, and the process is ready all the same. */
export class PartialFault extends Error {}

const checkTimeoutMs = 2_000;
const refreshMs = 1_000;

type HealthOptions = {
  readonly checks: readonly HealthCheck[];
  readonly isServing: () => boolean;
  readonly onFailure: (name: string, error: unknown) => void;
};

/**
 * Creates the router of the health checks. `/healthz` answers 200 while the process runs. `/readyz` answers 200 when
 * the process serves and all checks pass, except optional and partial checks, otherwise 503. It names each check with
 * its result. Checks run at most once a second, however often they are asked for. Reasons go to the log only.
 */
export function createHealthRouter(options: HealthOptions): Router {
  const router = Router({ strict: true, caseSensitive: true });
  router.get('/healthz', (_request, response) => {
    response.set('Cache-Control', 'no-store').json({ status: 'ok' });
  });
  const readResults = shareFor(refreshMs, () => runChecks(options));
  router.get('/readyz', async (_request, response) => {
    const results = await readResults();
    const optional = new Set(options.checks.flatMap(({ name, isOptional }) => (isOptional ? [name] : [])));
    const ready =
      options.isServing() && results.every(([name, result]) => result !== 'failing' || optional.has(name));
    const checks = Object.fromEntries(
      results.map(([name, result]) => [name, result === 'ok' ? 'ok' : 'failing']),
    );
    response
      .status(ready ? 200 : 503)
      .set('Cache-Control', 'no-store')
      .json({ status: ready ? 'ready' : 'not ready', checks });
  });
  return router;
}

type Result = 'ok' | 'partly failing' | 'failing';
type Results = readonly (readonly [name: string, result: Result])[];

function runChecks({ checks, onFailure }: Pick<HealthOptions, 'checks' | 'onFailure'>): Promise<Results> {
  return Promise.all(
    checks.map(async ({ name, run }) => [name, await runCheck(name, run, onFailure)] as const),
  );
}

/** Shares one result among all callers within `ms` of its start: nobody can make the checks run more often. */
function shareFor<T>(ms: number, read: () => Promise<T>): () => Promise<T> {
  let shared: { readonly at: number; readonly result: Promise<T> } | undefined;
  return () => {
    const now = performance.now();
    if (shared === undefined || now - shared.at >= ms) shared = { at: now, result: read() };
    return shared.result;
  };
}

async function runCheck(
  name: string,
  run: () => Promise<void>,
  onFailure: (name: string, error: unknown) => void,
): Promise<Result> {
  try {
    await inTime(run(), checkTimeoutMs);
    return 'ok';
  } catch (error) {
    onFailure(name, error);
    return error instanceof PartialFault ? 'partly failing' : 'failing';
  }
}
