import { CircuitState, circuitBreaker, handleWhen, type IBackoff, type IBreaker } from 'cockatiel';

export type BreakerState = 'closed' | 'open' | 'half_open';

/** A circuit breaker: rejects calls of a callee that only fails, and passes a call now and then as a trial. */
export type Breaker = {
  state(): BreakerState;
  /** Milliseconds until the next trial; 0 when it is due or under way, or when calls are let through anyway. */
  pauseMs(): number;
  /** Whether it is open and the next call that {@link run} gets is the trial. */
  admitsTrial(): boolean;
  /** Runs a call and learns from its outcome. Only for a closed breaker, or for the trial. */
  run<T>(call: () => Promise<T>): Promise<T>;
};

type BreakerOptions = {
  /** Which errors say that the callee does not work. Others say nothing. */
  readonly isFailure: (error: unknown) => boolean;
  readonly onState: (state: BreakerState) => void;
  /** A monotonic clock in milliseconds. */
  readonly now: () => number;
};

// One lost connection, or the burst of failures when a callee is started again, is no outage.
const leastFailures = 2;
const patienceMs = 2_000;
// Short, so that a callee that works again is found within seconds.
const firstPauseMs = 1_000;
const longestPauseMs = 3_000;

const names = {
  [CircuitState.Closed]: 'closed',
  [CircuitState.Open]: 'open',
  [CircuitState.HalfOpen]: 'half_open',
  // Nobody isolates it by hand.
  [CircuitState.Isolated]: 'open',
} as const;

/** Opens when nothing but failures came for two seconds, at least two; then makes a trial every one to three seconds. */
export function createBreaker({ isFailure, onState, now }: BreakerOptions): Breaker {
  const run = createFailureRun(now);
  let until = 0;
  const halfOpenAfter = createPauses(now, (ends) => {
    until = ends;
  });
  const policy = circuitBreaker(handleWhen(isFailure), { breaker: run, halfOpenAfter });
  policy.onStateChange((state) => onState(names[state]));
  const isOpen = () => policy.state === CircuitState.Open;
  return {
    state: () => names[policy.state],
    pauseMs: () => (isOpen() ? Math.max(0, until - now()) : 0),
    admitsTrial: () => isOpen() && now() >= until,
    run(call) {
      const begunAt = now();
      return policy.execute(async () => {
        try {
          return await call();
        } catch (error) {
          if (isFailure(error)) run.failed(begunAt);
          throw error;
        }
      });
    },
  };
}

/** Failures since the last success, and since when there are no others. */
function createFailureRun(now: () => number): IBreaker & { failed(begunAt: number): void } {
  let failures = 0;
  let since = Number.POSITIVE_INFINITY;
  let succeededAt = Number.NEGATIVE_INFINITY;
  return {
    state: undefined,
    failed(begunAt) {
      failures += 1;
      since = Math.min(since, Math.max(begunAt, succeededAt));
    },
    failure: () => failures >= leastFailures && now() - since >= patienceMs,
    success() {
      failures = 0;
      since = Number.POSITIVE_INFINITY;
      succeededAt = now();
    },
  };
}

/**
 * Pauses that double up to the longest. The library counts them by the calendar, which may be set back by an hour; so
 * each is endless for it until it is over by the monotonic clock.
 */
function createPauses(now: () => number, onPause: (until: number) => void) {
  const after = (pauseMs: number): { next(): IBackoff<unknown> } => ({
    next() {
      const until = now() + pauseMs;
      onPause(until);
      return {
        get duration() {
          return now() < until ? Number.POSITIVE_INFINITY : Number.NEGATIVE_INFINITY;
        },
        ...after(Math.min(2 * pauseMs, longestPauseMs)),
      };
    },
  });
  return after(firstPauseMs);
}
