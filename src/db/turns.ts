import { problem } from '../errors.ts';
import { type RequestScope, throwIfEnded, watchEnd } from '../request-scope.ts';

export type Turn<Handed> = {
  /** What the turn before has handed on. */
  readonly handed: Handed | undefined;
  /**
   * Called once, when what the turn was for is done.
   * @param handed what the next turn may go on with
   * @returns whether one does
   */
  end(handed?: Handed): boolean;
};

/** Lets tenants use what there is little of, none of them to the cost of the others. */
export type Turns<Handed> = {
  /**
   * Waits for a turn, or begins it at once where it can.
   * @param isFirst false when the turn goes on with what one before it has begun; it comes before those that begin
   * @param scope its end ends the waiting, with its reason
   * @throws ProblemError `overloaded` when the tenant has waited too long already, or waits with too many
   */
  take(tenant: string, isFirst: boolean, scope: WaitScope): Turn<Handed> | Promise<Turn<Handed>>;
};

type WaitScope = Pick<RequestScope, 'signal' | 'ending'>;

type TurnLimits = {
  /** Turns at once, of all tenants. */
  readonly places: number;
  /** How long the first in a tenant's line may have waited for others to be let into the line, in milliseconds. */
  readonly overdueMs: number;
  readonly now?: () => number;
};

type Waiting<Handed> = {
  readonly since: number;
  readonly start: (handed: Handed | undefined) => void;
  readonly fail: (error: unknown) => void;
};
type Line<Handed> = Set<Waiting<Handed>>;
type Tenant<Handed> = {
  /** Who goes on comes before who begins. */
  readonly goingOn: Line<Handed>;
  readonly beginning: Line<Handed>;
  /** When the turns under way began, the oldest first. */
  readonly started: Set<{ readonly at: number }>;
};

// As long as for a connection of the pool.
const patienceMs = 5_000;
// How much longer some may wait, so that they need no timers of their own.
const lookMs = 250;
// A turn that takes longer waits for something else, such as a lock, or works hard.
const slowMs = 100;
const longestLine = 1_000;

/**
 * A tenant may begin a turn while it has fewer than there are free places, so one alone gets half of them, the next half
 * of the rest, and something is left for whoever comes. While a tenant has slow turns it gets a quarter. Places that
 * become free go to the tenants in rotation, and within a tenant in the order of asking.
 */
export function createTurns<Handed>({
  places,
  overdueMs,
  now = () => performance.now(),
}: TurnLimits): Turns<Handed> {
  const tenants = new Map<string, Tenant<Handed>>();
  let taken = 0;
  let waitingCount = 0;

  const mayStart = ({ started }: Tenant<Handed>): boolean => {
    const free = places - taken;
    if (free === 0) return false;
    if (started.size === 0) return true;
    const [oldest] = started;
    const isSlow = oldest !== undefined && now() - oldest.at > slowMs;
    return started.size < (isSlow ? Math.min(free, Math.floor(places / 4)) : free);
  };

  const begin = (name: string, tenant: Tenant<Handed>, handed?: Handed): Turn<Handed> => {
    const turn = { at: now() };
    taken += 1;
    tenant.started.add(turn);
    return {
      handed,
      end(given) {
        if (!tenant.started.delete(turn)) return false;
        taken -= 1;
        forgetIdle(name, tenant);
        return waitingCount > 0 && startWaiting(given);
      },
    };
  };

  const forgetIdle = (name: string, tenant: Tenant<Handed>) => {
    if (firstOf(tenant) === undefined && tenant.started.size === 0) tenants.delete(name);
  };

  /** One place after the other goes to the next tenant in the rotation. @returns whether what is handed on is taken */
  const startWaiting = (given: Handed | undefined): boolean => {
    let left = given;
    for (let hasStarted = true; hasStarted && taken < places; ) {
      hasStarted = false;
      for (const [name, tenant] of [...tenants]) {
        const first = firstOf(tenant);
        if (first === undefined || !mayStart(tenant)) continue;
        // To the end of the rotation.
        tenants.delete(name);
        tenants.set(name, tenant);
        first.start(left);
        left = undefined;
        hasStarted = true;
      }
    }
    return given !== undefined && left === undefined;
  };

  const watch = nowAndThen(() => {
    failOverdue(tenants.values(), now() - patienceMs);
    return waitingCount > 0;
  });

  const wait = (name: string, tenant: Tenant<Handed>, line: Line<Handed>, scope: WaitScope) =>
    new Promise<Turn<Handed>>((resolve, reject) => {
      const leave = () => {
        if (line.delete(waiting)) waitingCount -= 1;
        unwatch();
      };
      const waiting: Waiting<Handed> = {
        since: now(),
        start(handed) {
          leave();
          resolve(begin(name, tenant, handed));
        },
        fail(error) {
          leave();
          forgetIdle(name, tenant);
          reject(error);
        },
      };
      const unwatch = watchEnd(scope, waiting.fail);
      line.add(waiting);
      waitingCount += 1;
      watch();
    });

  return {
    take(name, isFirst, scope) {
      const tenant = tenants.get(name) ?? newTenant<Handed>();
      tenants.set(name, tenant);
      if (firstOf(tenant) === undefined && mayStart(tenant)) return begin(name, tenant);
      const line = isFirst ? tenant.beginning : tenant.goingOn;
      const [first] = line;
      const isOverdue = isFirst && first !== undefined && now() - first.since > overdueMs;
      if (isOverdue || line.size >= longestLine) throw problem('overloaded');
      throwIfEnded(scope);
      return wait(name, tenant, line, scope);
    },
  };
}

const newTenant = <Handed>(): Tenant<Handed> => ({
  goingOn: new Set(),
  beginning: new Set(),
  started: new Set(),
});

function firstOf<Handed>({ goingOn, beginning }: Tenant<Handed>): Waiting<Handed> | undefined {
  const [first] = goingOn.size > 0 ? goingOn : beginning;
  return first;
}

/** @returns what begins to look, every now and then until there is nothing more to look after */
function nowAndThen(look: () => boolean): () => void {
  let isOn = false;
  const begin = () => {
    isOn = true;
    setTimeout(() => {
      isOn = false;
      if (look()) begin();
    }, lookMs).unref();
  };
  return () => {
    if (!isOn) begin();
  };
}

/** Refuses who waits since then or longer. */
function failOverdue<Handed>(tenants: Iterable<Tenant<Handed>>, before: number): void {
  for (const { goingOn, beginning } of tenants) {
    for (const line of [goingOn, beginning]) {
      for (const waiting of line) {
        if (waiting.since > before) break;
        waiting.fail(problem('overloaded'));
      }
    }
  }
}
