import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { problem } from '../../errors.ts';
import { problemBody } from './problem.ts';

type RefusalOptions = {
  /** How fast the process answers what it does not refuse. */
  readonly answersPerMs: () => number;
  readonly now: () => number;
};

// A refusal takes an eighth to a quarter of what a short answer takes, nearly all of it the kernel's and the parser's. So many
// are what three times the load comes to that the process can serve, with some to spare; more callers wait for their refusal.
const perAnswer = 8;
const leastPerMs = 2;
const tickMs = 5;
// As much later as a round of the event loop may take.
const burstMs = 50;

/**
 * Refuses requests for the load. A caller who is refused asks again, and Node reads from all who do before it goes on with
 * anything else; thousands of them would stop what was taken on. So refusals have a pace, and the callers beyond it wait
 * for theirs.
 */
export function createRefusals({ answersPerMs, now }: RefusalOptions) {
  const waiting: Send[] = [];
  let allowed = 0;
  let since = now();

  /** Counts what may be refused since it was counted last. */
  const count = () => {
    const at = now();
    const perMs = Math.max(leastPerMs, answersPerMs() * perAnswer);
    allowed = Math.min(allowed + (at - since) * perMs, burstMs * perMs);
    since = at;
  };
  const refuseWaiting = () => {
    count();
    const next = waiting.splice(0, Math.floor(allowed));
    allowed -= next.length;
    for (const send of next) send();
    if (waiting.length > 0) setTimeout(refuseWaiting, tickMs);
  };

  return {
    /** Sends a refusal, at once or when it may be. */
    refuse(send: Send): void {
      count();
      if (waiting.length === 0 && allowed >= 1) {
        allowed -= 1;
        send();
      } else if (waiting.push(send) === 1) setTimeout(refuseWaiting, tickMs);
    },
    /** Sends all that wait. */
    sendAll(): void {
      for (const send of waiting.splice(0)) send();
    },
  };
}

type Send = () => void;

/** Sends it at a small part of what any other answer costs: without the app, and without a line in the log. */
export function sendRefusal(response: ServerResponse): void {
  const requestId = randomUUID();
  response.writeHead(503, [...refusalHeaders, 'X-Request-Id', requestId]);
  response.end(refusalBody.replace(placeholder, requestId));
}

/** Stands for the id of a request. */
export const placeholder = randomUUID();
/** With the id of no request, for which each answer has its own. To make a problem takes as long as all the rest. */
export const refusalBody = problemBody(problem('overloaded'), placeholder);
export const refusalHeaders = [
  ...['X-Content-Type-Options', 'nosniff'],
  ...['Retry-After', '1'],
  ...['Content-Type', 'application/problem+json'],
  ...['Cache-Control', 'no-store'],
  ...['Content-Length', String(Buffer.byteLength(refusalBody))],
];
