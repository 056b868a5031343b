import { problem } from '../errors.ts';

/** Called once, when what the turn was for is done. */
export type EndTurn = () => void;

/** Lets tenants use what there is little of, none of them to the cost of the others. */
export type Turns = {
  /**
   * Waits for a turn, or begins it at once where it can.
   * @param isFirst false when the turn goes on with what one before it has begun; it comes before those that begin
   * @param scope.signal ends the waiting, with its reason; it is asked for where something waits
   * @throws ProblemError `overloaded` when the tenant has waited too long already, or waits with too many
   */
  take(tenant: string, isFirst: boolean, scope: Signalled): EndTurn | Promise<EndTurn>;
};

type Signalled = { readonly signal: AbortSignal };

type TurnLimits = {
  /** Turns at once, of all tenants. */
  readonly places: number;
  /** How long the first in a tenant's line may have waited for others to be let into the line, in milliseconds. */
  readonly overdueMs: number;
  readonly now?: () => number;
};

type Waiting = {
  readonly since: number;
  readonly start: () => void;
  readonly fail: (error: unknown) => void;
};
type Line = Set<Waiting>;
type Tenant = {
  /** Who goes on comes before who begins. */
  readonly goingOn: Line;
  readonly beginning: Line;
  /** When the turns under way began, the oldest first. */
  readonly started: Set<{ readonly at: number }>;
};

// As long as for a connection of the pool.
const patienceMs = 5_000;
// A turn that takes longer waits for something else, such as a lock, or works hard.
const slowMs = 100;
const longestLine = 1_000;

/**
 * A tenant may begin a turn while it has fewer than there are free places, so one alone gets half of them, the next half
 * of the rest, and something is left for whoever comes. While a tenant has slow turns it gets a quarter. Places that
 * become free go to the tenants in rotation, and within a tenant in the order of asking.
 */
export function createTurns({ places, overdueMs, now = () => performance.now() }: TurnLimits): Turns {
  const tenants = new Map<string, Tenant>();
  let taken = 0;
  let waitingCount = 0;

  const mayStart = ({ started }: Tenant): boolean => {
    const free = places - taken;
    if (free === 0) return false;
    if (started.size === 0) return true;
    const [oldest] = started;
    const isSlow = oldest !== undefined && now() - oldest.at > slowMs;
    return started.size < (isSlow ? Math.min(free, Math.floor(places / 4)) : free);
  };

  const begin = (name: string, tenant: Tenant): EndTurn => {
    const turn = { at: now() };
    taken += 1;
    tenant.started.add(turn);
    return () => {
      if (!tenant.started.delete(turn)) return;
      taken -= 1;
      forgetIdle(name, tenant);
      if (waitingCount > 0) startWaiting();
    };
  };

  const forgetIdle = (name: string, tenant: Tenant) => {
    if (firstOf(tenant) === undefined && tenant.started.size === 0) tenants.delete(name);
  };

  /** One place after the other goes to the next tenant in the rotation. */
  const startWaiting = () => {
    for (let hasStarted = true; hasStarted && taken < places; ) {
      hasStarted = false;
      for (const [name, tenant] of [...tenants]) {
        const first = firstOf(tenant);
        if (first === undefined || !mayStart(tenant)) continue;
        // To the end of the rotation.
        tenants.delete(name);
        tenants.set(name, tenant);
        first.start();
        hasStarted = true;
      }
    }
  };

  const wait = (name: string, tenant: Tenant, line: Line, signal: AbortSignal): Promise<EndTurn> =>
    new Promise((resolve, reject) => {
      const leave = () => {
        if (line.delete(waiting)) waitingCount -= 1;
        clearTimeout(patience);
        signal.removeEventListener('abort', onAbort);
      };
      const waiting: Waiting = {
        since: now(),
        start() {
          leave();
          resolve(begin(name, tenant));
        },
        fail(error) {
          leave();
          forgetIdle(name, tenant);
          reject(error);
        },
      };
      const onAbort = () => waiting.fail(signal.reason);
      const patience = setTimeout(() => waiting.fail(problem('overloaded')), patienceMs);
      signal.addEventListener('abort', onAbort, { once: true });
      line.add(waiting);
      waitingCount += 1;
    });

  return {
    take(name, isFirst, scope) {
      const tenant = tenants.get(name) ?? newTenant();
      tenants.set(name, tenant);
      if (firstOf(tenant) === undefined && mayStart(tenant)) return begin(name, tenant);
      const line = isFirst ? tenant.beginning : tenant.goingOn;
      const [first] = line;
      const isOverdue = isFirst && first !== undefined && now() - first.since > overdueMs;
      if (isOverdue || line.size >= longestLine) throw problem('overloaded');
      scope.signal.throwIfAborted();
      return wait(name, tenant, line, scope.signal);
    },
  };
}

const newTenant = (): Tenant => ({ goingOn: new Set(), beginning: new Set(), started: new Set() });

function firstOf({ goingOn, beginning }: Tenant): Waiting | undefined {
  const [first] = goingOn.size > 0 ? goingOn : beginning;
  return first;
}
