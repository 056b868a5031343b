import { createHash } from 'node:crypto';
import { RateLimiterMemory, RateLimiterPostgres, RateLimiterRes } from 'rate-limiter-flexible';
import type { Caller } from '../../contract/operation.ts';
import type { Logger } from '../../log.ts';

export type RateLimit = { readonly perSecond: number; readonly burst: number };

/** What a request of a caller may do: go on, or come back after `retryAfterSeconds`. */
type Allowance = {
  /** `RateLimit` and `RateLimit-Policy`; empty where no limit applies. */
  readonly headers: Readonly<Record<string, string>>;
  /** Present when the limit is used up; a whole number from 1. */
  readonly retryAfterSeconds?: number;
};

export type Limiter = {
  /** Counts one request of the caller's key. */
  consume(caller: Caller): Promise<Allowance>;
};

type LimiterOptions = {
  /** The Knex instance that holds `rate_limits`; only the limiting library looks into it. */
  readonly db: object;
  /** For keys without a limit of their own; 0 a second means no limit. */
  readonly defaults: RateLimit;
  readonly log: Logger;
};

// One limiter for each pair of numbers in use; operators give few different ones.
const maxPolicies = 1_000;

/**
 * Limits requests per key over all processes, by counts in Postgres.
 *
 * A key may make `burst` requests in a window of `burst / perSecond` seconds, which begins with the first
 * request after the last window ended. So it may send `burst` at once, and over many windows `perSecond` on
 * average; around the border of two windows up to twice `burst` in a short time. A key that has used up its
 * window is refused from memory, without a query. While the database is out of reach, every process counts
 * for itself.
 */
export function createLimiter({ db, defaults, log }: LimiterOptions): Limiter {
  const policies = new Map<string, Policy>();
  const policyOf = (limit: RateLimit): Policy => {
    const name = `${limit.perSecond}/${limit.burst}`;
    const known = policies.get(name);
    if (known !== undefined) return known;
    if (policies.size >= maxPolicies) policies.clear();
    const made = createPolicy({ db, log }, limit);
    policies.set(name, made);
    return made;
  };
  return {
    async consume(caller) {
      const limit = caller.rateLimit ?? defaults;
      return limit.perSecond === 0 ? { headers: {} } : policyOf(limit).consume(nameOf(caller));
    },
  };
}

type Policy = { consume(name: string): Promise<Allowance> };

function createPolicy({ db, log }: { db: object; log: Logger }, { perSecond, burst }: RateLimit): Policy {
  const points = Math.max(burst, perSecond);
  // Whole milliseconds: the end of a window is stored as such.
  const windowMs = Math.ceil((points / perSecond) * 1_000);
  const window = { points, duration: windowMs / 1_000, keyPrefix: 'key' };
  const limiter = new RateLimiterPostgres({
    ...window,
    storeClient: db,
    storeType: 'knex',
    tableName: 'rate_limits',
    tableCreated: true,
    clearExpiredByTimeout: false,
    inMemoryBlockOnConsumed: points,
  });
  // The library's own insurance would do the same without a word in the log.
  const ownCount = new RateLimiterMemory(window);
  const policy = `"default";q=${points};w=${Math.ceil(windowMs / 1_000)}`;
  const headersOf = (counted: RateLimiterRes) => ({
    'RateLimit-Policy': policy,
    RateLimit: `"default";r=${counted.remainingPoints};t=${secondsOf(counted)}`,
  });
  // The library rejects with the count when the window is used up, and with an error otherwise.
  const toAllowance = (counted: unknown): Allowance => {
    if (!(counted instanceof RateLimiterRes)) throw counted;
    return { headers: headersOf(counted), retryAfterSeconds: secondsOf(counted) };
  };
  return {
    async consume(name) {
      try {
        return { headers: headersOf(await limiter.consume(name)) };
      } catch (counted) {
        if (counted instanceof RateLimiterRes) return toAllowance(counted);
        log.warn({ err: counted }, 'rate limits are counted by this process alone');
        return ownCount.consume(name).then((own) => ({ headers: headersOf(own) }), toAllowance);
      }
    },
  };
}

/** The name of a caller's row: at most as long as its column. */
function nameOf({ keyId }: Caller): string {
  return keyId.length <= 200 ? keyId : createHash('sha256').update(keyId).digest('hex');
}

function secondsOf({ msBeforeNext }: RateLimiterRes): number {
  return Math.max(1, Math.ceil(msBeforeNext / 1_000));
}
