import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { RequestScope } from '../../base/request-scope.ts';
import { createAskers, createSemaphore, type Release } from '../../base/semaphore.ts';

type Scope = Pick<RequestScope, 'signal' | 'ending'>;

/** Decides which requests the process works on. */
export type RequestAdmission = {
  /**
   * Admits a request of the company, at once or when an earlier request has ended.
   * @returns what is called when the process and its database have no more work with the request
   * @throws ProblemError `overloaded` when that takes too long, or at once while the event loop is late
   */
  admit(company: string, scope: Scope): Release | Promise<Release>;
  /**
   * Admits a large response: two at a time for a company while others ask.
   * @returns what is called when the response is sent
   * @throws ProblemError `overloaded` when that takes too long
   */
  admitLarge(company: string, scope: Scope): Release | Promise<Release>;
  /** Stops watching the event loop. */
  close(): void;
};

type AdmissionOptions = {
  /** Requests that the process works on at once. */
  readonly requests: number;
  /** Time that a request waits for its admission, in milliseconds. */
  readonly waitMs: number;
  /** Mean delay of the event loop, in milliseconds, from which on no request waits. */
  readonly maxDelayMs: number;
};

const largeAtOnce = 8;
// Clients ask for some large lists at once, and would rather wait than ask again.
const largeWaitMs = 5_000;

/** Returns an admission by the rule of the semaphore: a company has a quarter of the places while others ask. */
export function createAdmission({ requests, waitMs, maxDelayMs }: AdmissionOptions): RequestAdmission {
  const loop = watchLoop(maxDelayMs);
  const askers = createAskers();
  const places = createSemaphore({ places: requests, waitMs, askers, mayWait: () => !loop.isLate() });
  const large = createSemaphore({ places: largeAtOnce, waitMs: largeWaitMs, askers });
  return { admit: places.take, admitLarge: large.take, close: loop.close };
}

const resolutionMs = 20;
const spanMs = 1_000;

/** Watches by how much the event loop is late, in this second and the last. */
function watchLoop(maxDelayMs: number) {
  const delays = monitorEventLoopDelay({ resolution: resolutionMs });
  delays.enable();
  let [wasLate, isLate, count] = [false, false, 0];
  // The mean changes only with another delay, and reading it costs as much as a small request.
  const isLateNow = () => {
    if (delays.count === count) return isLate;
    count = delays.count;
    // Node's delays include the resolution.
    isLate = delays.mean / 1e6 - resolutionMs > maxDelayMs;
    return isLate;
  };
  const reading = setInterval(() => {
    wasLate = isLateNow();
    delays.reset();
    [isLate, count] = [false, 0];
  }, spanMs).unref();
  return {
    isLate: () => wasLate || isLateNow(),
    close() {
      clearInterval(reading);
      delays.disable();
    },
  };
}
