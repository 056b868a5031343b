import type { Request, RequestHandler, Response } from 'express';
import { problem } from '../../base/errors.ts';
import { CallerGoneError } from '../../base/request-scope.ts';
import { callerAddress } from './caller-address.ts';
import { networkOf } from './network-of.ts';

/** Returns the delay of the next response to a name, in milliseconds; 0 for none. */
export type Pace = (name: string, cost?: number) => number;

const atOnceMs = 1_000;
const longestMs = 2_000;
// Else the callers who wait for the longest would come back all together, again and again.
const spreadMs = 500;

/**
 * Creates a pace. The responses of a second go out at once, and the responses of two more seconds in turn. All others
 * wait for two seconds to two and a half.
 * @param now a monotonic clock in milliseconds
 */
export function createPace(perSecond: number, now: () => number = () => performance.now()): Pace {
  const eachMs = 1_000 / perSecond;
  /** When the responses of a name so far are over at that pace; the name that asked longest ago comes first. */
  const overAt = new Map<string, number>();

  return (name, cost = 1) => {
    const at = now();
    // Delays beyond the longest are forgotten: a caller who stops to ask is soon even again.
    const over = Math.min(Math.max(overAt.get(name) ?? 0, at) + cost * eachMs, at + atOnceMs + longestMs);
    overAt.delete(name);
    for (const [other, otherOver] of overAt) {
      if (otherOver > at) break;
      overAt.delete(other);
    }
    overAt.set(name, over);
    const delayMs = Math.max(0, over - at - atOnceMs);
    return delayMs < longestMs ? delayMs : delayMs + Math.random() * spreadMs;
  };
}

/** Waits until a response may go out. @throws CallerGoneError when the connection is closed before */
export function afterDelay(delayMs: number, response: Response): Promise<void> {
  return new Promise((resolve, reject) => {
    const onClose = () => {
      clearTimeout(timer);
      reject(new CallerGoneError());
    };
    const timer = setTimeout(() => {
      response.off('close', onClose);
      resolve();
    }, delayMs);
    response.once('close', onClose);
  });
}

/** Keeps callers without a known key to a pace of their network, so that a flood of them costs others nothing. */
export type StrangerPace = {
  /**
   * Lets a request pass, at once or when it is its turn.
   * @param cost how many responses it counts as; 1 by default
   * @returns undefined where nothing is to be waited for
   * @throws ProblemError `rate_limited` two seconds later when the network asks for too much
   */
  pass(request: Request, response: Response, cost?: number): Promise<void> | undefined;
};

// A page of the portal takes a dozen requests, and an office may share an address.
const perSecond = 200;
/** The cost of an operation that needs no key: it asks the database, so it may cost as much as many pages. */
export const operationCost = 5;
/** The cost of a file. Of callers who do not read, the kernel keeps some MB each, which no limit of the process sees. */
export const costOfBytes = (bytes: number): number => bytes / (32 * 1024);

export function createStrangerPace(): StrangerPace {
  const next = createPace(perSecond);
  return {
    pass(request, response, cost) {
      const delayMs = next(networkOf(callerAddress(request)), cost);
      if (delayMs === 0) return undefined;
      return afterDelay(delayMs, response).then(() => {
        if (delayMs >= longestMs) throw problem('rate_limited');
      });
    },
  };
}

/** Lets whatever comes behind it pass at the pace. */
export const paced =
  ({ pass }: StrangerPace): RequestHandler =>
  (request, response, next) => {
    const turn = pass(request, response);
    if (turn === undefined) next();
    else turn.then(() => next(), next);
  };
