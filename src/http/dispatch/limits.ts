import { createHash } from 'node:crypto';
import {
  type RateLimiterAbstract,
  RateLimiterMemory,
  RateLimiterPostgres,
  RateLimiterRes,
} from 'rate-limiter-flexible';
import type { Logger } from '../../base/log.ts';
import { currentScope } from '../../base/request-scope.ts';
import { createSemaphore, type Semaphore } from '../../base/semaphore.ts';
import type { Caller } from '../../contract/operation.ts';
import { tenantOf } from '../../contract/tenant.ts';

export type RateLimit = { readonly perSecond: number; readonly burst: number };

/** Whether a request may proceed, or when to retry. */
type Allowance = {
  /** `RateLimit` and `RateLimit-Policy`. */
  readonly headers: Readonly<Record<string, string>>;
  /** Present when the limit is exhausted; a whole number from 1. */
  readonly retryAfterSeconds?: number;
};

export type Limiter = {
  /** Counts one request of the caller's key. @returns undefined, at once, where no limit applies */
  consume(caller: Caller): Promise<Allowance> | undefined;
};

type LimiterOptions = {
  /** The Knex instance of the database with `rate_limits`; only the rate limiting library uses it. */
  readonly db: object;
  /** For keys without their own limit; 0 per second means no limit. */
  readonly defaults: RateLimit;
  readonly log: Logger;
  /** Requests that are counted in the database at the same time; shared among companies. */
  readonly countsAtOnce?: number;
  /** Time that a request waits to be counted, in milliseconds. */
  readonly waitMs?: number;
};

// One limiter for each pair of limits in use; operators configure few pairs.
const maxPolicies = 1_000;

/**
 * Creates the limiter of requests per key over all processes, which counts in Postgres.
 *
 * A key may make `burst` requests in a window of `burst / perSecond` seconds, which begins with the first request
 * after the previous window ended. So it may send `burst` requests at once, `perSecond` on average over many windows,
 * and up to twice `burst` around the border of two windows. A key that has exhausted its window is rejected from memory,
 * without a query. While the database is unreachable, every process counts on its own.
 */
export function createLimiter({
  db,
  defaults,
  log,
  countsAtOnce = 2,
  waitMs = 1_000,
}: LimiterOptions): Limiter {
  const places = createSemaphore({ places: countsAtOnce, waitMs });
  const policies = new Map<string, Policy>();
  const policyOf = (limit: RateLimit): Policy => {
    const name = `${limit.perSecond}/${limit.burst}`;
    const known = policies.get(name);
    if (known !== undefined) return known;
    if (policies.size >= maxPolicies) policies.clear();
    const made = createPolicy({ db, log, places }, limit);
    policies.set(name, made);
    return made;
  };
  return {
    consume(caller) {
      const limit = caller.rateLimit ?? defaults;
      return limit.perSecond === 0 ? undefined : policyOf(limit).consume(caller);
    },
  };
}

type Policy = { consume(caller: Caller): Promise<Allowance> };

type PolicyOptions = Pick<LimiterOptions, 'db' | 'log'> & { readonly places: Semaphore };

function createPolicy({ db, log, places }: PolicyOptions, { perSecond, burst }: RateLimit): Policy {
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
  // The library's own insurance limiter would do the same without a log entry.
  const fallback = new RateLimiterMemory(window);
  const policy = `"default";q=${points};w=${Math.ceil(windowMs / 1_000)}`;
  const headersOf = (counted: RateLimiterRes) => ({
    'RateLimit-Policy': policy,
    RateLimit: `"default";r=${counted.remainingPoints};t=${secondsOf(counted)}`,
  });
  const toAllowance = ({ counted, isOver }: Count): Allowance => ({
    headers: headersOf(counted),
    ...(isOver && { retryAfterSeconds: secondsOf(counted) }),
  });
  const countShared = async (name: string): Promise<Count> => {
    const count = await countOn(limiter, name);
    if (count.counted.msBeforeNext <= windowMs + clockSkewMs) return count;
    // No window is so long: the clock of this process, or of the process that began the window, was set.
    await limiter.delete(name);
    return countOn(limiter, name);
  };
  let isAlone = false;
  const noteAlone = (alone: boolean, err?: unknown) => {
    if (alone === isAlone) return;
    isAlone = alone;
    if (alone) log.warn({ err }, 'rate limits are counted by this process alone');
    else log.info('rate limits are counted together again');
  };
  return {
    async consume(caller) {
      const name = rowKey(caller);
      // The requests of a key wait for each other's count, and must not do so with all connections.
      const scope = currentScope();
      const release = scope && (await places.take(tenantOf(caller), scope));
      try {
        const shared = await countShared(name);
        noteAlone(false);
        return toAllowance(shared);
      } catch (reason) {
        noteAlone(true, reason);
        return toAllowance(await countOn(fallback, name));
      } finally {
        release?.();
      }
    },
  };
}

// Windows are stored by the calendar of the process that begins them; calendars differ a little.
const clockSkewMs = 10_000;

type Count = { readonly counted: RateLimiterRes; readonly isOver: boolean };

/** Counts one request. The library rejects with the count when the window is exhausted, and with an error otherwise. */
async function countOn(limiter: RateLimiterAbstract, name: string): Promise<Count> {
  try {
    return { counted: await limiter.consume(name), isOver: false };
  } catch (reason) {
    if (!(reason instanceof RateLimiterRes)) throw reason;
    return { counted: reason, isOver: true };
  }
}

/** The key of a caller's row, no longer than its column. */
function rowKey({ keyId }: Caller): string {
  return keyId.length <= 200 ? keyId : createHash('sha256').update(keyId).digest('hex');
}

function secondsOf({ msBeforeNext }: RateLimiterRes): number {
  return Math.max(1, Math.ceil(msBeforeNext / 1_000));
}
