import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { problem } from '../../errors.ts';
import { problemBody } from './problem.ts';

type RefusalOptions = {
  /** How fast the process answers what it does not refuse. */
  readonly answersPerMs: () => number;
  /** Whether what refusing takes of the process is taken from answers. */
  readonly isWithoutPause: () => boolean;
  readonly now: () => number;
};

// A refusal takes an eighth to a quarter of what a short answer takes, nearly all of it the kernel's and the parser's. So many
// are what three times the load comes to that the process can serve, with some to spare; more callers wait for their refusal.
const perAnswer = 8;
const leastPerMs = 2;
// Of callers who ask on, while the process has no pause. With a hundred connections they would have it do little but refuse; all
// who ask without end, at three times the load, are answered in turns still.
const perAnswerWithoutPause = 3;
const tickMs = 5;
// As much later as a round of the event loop may take.
const burstMs = 50;

/**
 * Refuses requests for the load. A caller who is refused asks again, and Node reads from all who do before it goes on with
 * anything else; thousands of them would stop what was taken on. So refusals have a pace, and the callers beyond it wait
 * for theirs: at a slower one who ask on at once, and not when they were told to.
 */
export function createRefusals({ answersPerMs, isWithoutPause, now }: RefusalOptions) {
  const perMs = (each: number) => Math.max(leastPerMs, answersPerMs() * each);
  const first = createLine(() => perMs(perAnswer), now);
  const askingOn = createLine(() => perMs(isWithoutPause() ? perAnswerWithoutPause : perAnswer), now);
  return {
    /**
     * Sends a refusal, at once or when it may be.
     * @param asksOn whether its caller was refused on the same connection, and asks before the time in `Retry-After` is over
     */
    refuse(send: Send, asksOn = false): void {
      (asksOn ? askingOn : first).send(send);
    },
    /** Sends all that wait. */
    sendAll(): void {
      first.sendAll();
      askingOn.sendAll();
    },
  };
}

/** Sends one after the other, so many a millisecond. */
function createLine(perMs: () => number, now: () => number) {
  const waiting: Send[] = [];
  let allowed = 0;
  let since = now();

  /** Counts what may be sent since it was counted last. */
  const count = () => {
    const at = now();
    const pace = perMs();
    allowed = Math.min(allowed + (at - since) * pace, burstMs * pace);
    since = at;
  };
  const sendWaiting = () => {
    count();
    const next = waiting.splice(0, Math.floor(allowed));
    allowed -= next.length;
    for (const send of next) send();
    if (waiting.length > 0) setTimeout(sendWaiting, tickMs);
  };

  return {
    send(send: Send): void {
      count();
      if (waiting.length === 0 && allowed >= 1) {
        allowed -= 1;
        send();
      } else if (waiting.push(send) === 1) setTimeout(sendWaiting, tickMs);
    },
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

/** When whoever is refused for the load is asked to come again. */
export const retryAfterSeconds = 1;
/** Stands for the id of a request. */
export const placeholder = randomUUID();
/** With the id of no request, for which each answer has its own. To make a problem takes as long as all the rest. */
export const refusalBody = problemBody(problem('overloaded'), placeholder);
export const refusalHeaders = [
  ...['X-Content-Type-Options', 'nosniff'],
  ...['Retry-After', String(retryAfterSeconds)],
  ...['Content-Type', 'application/problem+json'],
  ...['Cache-Control', 'no-store'],
  ...['Content-Length', String(Buffer.byteLength(refusalBody))],
];
