import type { IncomingMessage, ServerResponse } from 'node:http';
import { type EventLoopUtilization, performance } from 'node:perf_hooks';
import { createLateRefusals } from './late-refusals.ts';
import { createPace } from './load-pace.ts';
import type { RawRequest } from './quick-refusals.ts';
import { createRefusals, sendRefusal } from './refusals.ts';
import { createUnderWay, type EndRequest } from './under-way.ts';

export type LoadGuard = {
  /**
   * Asked once for each request, in the order of their coming.
   * @returns undefined when the request is to be refused
   */
  admit(request: Pick<IncomingMessage, 'url' | 'headers'>): EndRequest | undefined;
  /** Answers a request that was not taken on. */
  refuse(response: ServerResponse): void;
  /** Whether some requests are refused now; mostly none is, and nobody has to look closer. */
  isRefusing(): boolean;
  /** Whether `admit` would not take a request on. */
  refuses(request: RawRequest): boolean;
  /**
   * Calls what sends a refusal, at once or when it may be sent.
   * @param asksOn whether the caller does not wait as long as it was asked to
   */
  pace(send: () => void, asksOn?: boolean): void;
  /** Sends all refusals that wait. */
  hasten(): void;
};

type GuardOptions = {
  /** Milliseconds of the process's own work that requests under way may come to, while it has no pause. */
  readonly busyMs: number;
  /** Whose key it is, when it was accepted in the last minutes. */
  readonly tenantOf: (key: string) => string | undefined;
  /** In milliseconds. */
  readonly now?: () => number;
  /** How the event loop has spent its time, in all or since it was told before. */
  readonly utilization?: (before?: EventLoopUtilization) => EventLoopUtilization;
};

// Few requests are never refused, however long one of them takes.
const fewRequests = 32;
// Nor are so many of a company, as long as others have not done the same: one that asks for much, with however many keys,
// must not cost another the little that it asks for.
const fewOfTenant = 4;
// A shorter time without pause is how a process deals with what came at once.
const spanMs = 50;
// How an operator or a load balancer sees a process must not depend on its load.
const health = new Set(['/healthz', '/readyz']);
const noEnd: EndRequest = () => {};

/**
 * Refuses requests before latency runs away. The process is overloaded while its event loop has no pause, or is at what
 * came at once for some time. Then as many requests may be under way as it answers in `busyMs` by its own
 * pace: each that is taken on waits about so long, however many come. Beyond, a company whose key is known has its share of
 * that number, and all strangers together have the little that is any company's. One whose requests were refused late,
 * since the database is what is overloaded, is refused here from then on.
 */
export function createLoadGuard({
  busyMs,
  tenantOf,
  now = () => performance.now(),
  utilization = (before) => performance.eventLoopUtilization(before),
}: GuardOptions): LoadGuard {
  const underWay = createUnderWay(now());
  const pace = createPace({ spanMs, utilization, began: now() });
  const refusals = createRefusals({ answersPerMs: pace.perMs, isWithoutPause: pace.isWithoutPause, now });
  const late = createLateRefusals(now);
  const ends = { onAnswered: pace.noteAnswer, onRefused: late.hold };
  let round: number | undefined;

  const isOverloaded = (at: number): boolean => {
    if (round === undefined) {
      round = at;
      // When everything that came at once is dealt with.
      setImmediate(() => {
        round = undefined;
      });
    }
    if (pace.look(at)) underWay.turn(at);
    return pace.isWithoutPause() || at - round > spanMs;
  };
  const mostUnderWay = () => Math.max(fewRequests, pace.perMs() * busyMs);
  const hasPlace = (tenant: string | undefined): boolean => {
    const most = mostUnderWay();
    if (underWay.count() < most) return true;
    // However much strangers or one company had begun before, others have their little; only very many companies together
    // come to too much.
    const tenants = underWay.tenants();
    if (tenants * fewOfTenant >= 2 * most) return false;
    // A company whose key this process has not seen yet is among the strangers.
    const share = tenant === undefined ? fewOfTenant : Math.max(fewOfTenant, most / Math.max(2, tenants));
    return underWay.ofTenant(tenant) < share;
  };

  /** One whose requests are refused late has as many under way as are answered in `busyMs` now. */
  const hasTooMany = (tenant: string | undefined): boolean => {
    if (tenant === undefined || !late.isHeld(tenant)) return false;
    const isRefused = underWay.ofTenant(tenant) >= Math.max(fewRequests, pace.latestPerMs() * busyMs);
    if (isRefused) late.hold(tenant);
    return isRefused;
  };

  const isRefused = (url: string, tenant: string | undefined): boolean =>
    ((isOverloaded(now()) && !hasPlace(tenant)) || hasTooMany(tenant)) && !health.has(url);

  return {
    admit({ url = '', headers }) {
      // They have a pace of their own, and are not counted among what the process is at.
      if (health.has(url)) return noEnd;
      const given = headers['x-api-key'];
      const tenant = typeof given === 'string' ? tenantOf(given) : undefined;
      return isRefused(url, tenant) ? undefined : underWay.begin(tenant, ends);
    },
    refuse: (response) => refusals.refuse(() => sendRefusal(response)),
    pace: refusals.refuse,
    hasten: refusals.sendAll,
    isRefusing: () => (isOverloaded(now()) && underWay.count() >= mostUnderWay()) || late.isAnyHeld(),
    refuses: ({ url, key }) => isRefused(url, key === undefined ? undefined : tenantOf(key)),
  };
}
