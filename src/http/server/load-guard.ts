import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { problem } from '../../errors.ts';
import { problemBody } from './problem.ts';

export type LoadGuard = {
  /** Whether the request can be taken on. Asked once for each, in the order of their coming. */
  admits(request: IncomingMessage): boolean;
};

// Few requests are never refused, however long one of them takes.
const fewRequests = 32;
// Nor are the first ones of a key, as long as few keys come at once: many requests of one must not cost the others theirs.
const fewOfKey = 4;
const fewKeys = 16;
// How an operator or a load balancer sees a process must not depend on its load.
const health = new Set(['/healthz', '/readyz']);

/**
 * Admits requests as long as those before them did not keep the process busy for too long: what the network has brought
 * at once is dealt with in one go, and nothing else happens meanwhile.
 * @param busyMs time for the requests that came at once
 */
export function createLoadGuard(busyMs: number, now: () => number = () => performance.now()): LoadGuard {
  let round: Round | undefined;
  return {
    admits({ url = '', headers }) {
      if (round === undefined) {
        round = { since: now(), requests: 0, ofKey: new Map() };
        // When everything that came at once is dealt with.
        setImmediate(() => {
          round = undefined;
        });
      }
      round.requests += 1;
      const isFirst = isFirstOfKey(round, headers['x-api-key']);
      return round.requests <= fewRequests || isFirst || now() - round.since <= busyMs || health.has(url);
    },
  };
}

type Round = {
  readonly since: number;
  requests: number;
  /** Requests by key, of the first keys. */
  readonly ofKey: Map<string, number>;
};

function isFirstOfKey({ ofKey }: Round, key: string | string[] | undefined): boolean {
  if (typeof key !== 'string') return false;
  const count = (ofKey.get(key) ?? 0) + 1;
  if (count === 1 && ofKey.size >= fewKeys) return false;
  ofKey.set(key, count);
  return count <= fewOfKey;
}

/** Refuses a request at a small part of what any other answer costs: without the app, and without a line in the log. */
export function refuseForLoad(response: ServerResponse): void {
  const requestId = randomUUID();
  const body = problemBody(problem('overloaded'), requestId);
  response.writeHead(503, {
    'X-Request-Id': requestId,
    'X-Content-Type-Options': 'nosniff',
    'Retry-After': '1',
    'Content-Type': 'application/problem+json',
    'Cache-Control': 'no-store',
    'Content-Length': Buffer.byteLength(body),
  });
  response.end(body);
}
