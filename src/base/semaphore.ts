import { problem } from './errors.ts';
import { type RequestScope, throwIfEnded, watchEnd } from './request-scope.ts';

/** Ends the use of a place. Only the first call counts. */
export type Release = () => void;

type WaitScope = Pick<RequestScope, 'signal' | 'ending'>;

/** Shares places among companies, so that no company waits for the work of another. */
export type Semaphore = {
  /**
   * Takes a place for the company, at once or when one is free for it.
   * @param scope its end ends the waiting, with its reason
   * @throws ProblemError `overloaded` after the waiting time, or at once when none may wait or very many of the company do
   */
  take(company: string, scope: WaitScope): Release | Promise<Release>;
};

type SemaphoreOptions = {
  readonly places: number;
  readonly waitMs: number;
  /** Returns whether requests may wait now; always by default. */
  readonly mayWait?: () => boolean;
  /** The companies that have asked lately; of this semaphore by default. */
  readonly askers?: Askers;
};

const longestLine = 1_000;
// A company that asked so lately may ask again at any moment.
const recentMs = 1_000;

/**
 * Returns a semaphore that serves companies in turn, and requests of a company in the order of their coming. While other companies
 * ask, a company has a quarter of the places. A company that asks alone leaves a quarter free for the next company.
 */
export function createSemaphore({
  places,
  waitMs,
  mayWait = () => true,
  askers = createAskers(),
}: SemaphoreOptions): Semaphore {
  const quarter = Math.max(1, Math.floor(places / 4));
  const reserve = Math.floor(places / 4);
  const held = new Map<string, number>();
  // What waits, by company: what begins each request, the first first. The company whose turn is next comes first.
  const lines = new Map<string, Set<() => void>>();
  let free = places;

  const mayTake = (company: string): boolean =>
    (held.get(company) ?? 0) < quarter ? free > 0 : free > reserve && !askers.hasOthers(company);

  const takeNow = (company: string): Release => {
    free -= 1;
    add(held, company, 1);
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      free += 1;
      add(held, company, -1);
      giveFree();
    };
  };

  // It passes by few companies: only a few can have their quarter.
  const giveFree = (): void => {
    for (const [company, line] of lines) {
      if (free === 0) return;
      if (!mayTake(company)) continue;
      const [start] = line;
      // At the end of the map, this loop comes to the company again.
      lines.delete(company);
      if (line.size > 1) lines.set(company, line);
      start?.();
    }
  };

  const wait = (company: string, scope: WaitScope): Promise<Release> =>
    new Promise((resolve, reject) => {
      const line = lines.get(company) ?? new Set();
      const leave = () => {
        line.delete(start);
        if (line.size === 0) lines.delete(company);
        clearTimeout(timer);
        unwatch();
      };
      const fail = (reason: unknown) => {
        leave();
        reject(reason);
      };
      const start = () => {
        leave();
        resolve(takeNow(company));
      };
      const timer = setTimeout(() => fail(problem('overloaded')), waitMs);
      const unwatch = watchEnd(scope, fail);
      lines.set(company, line.add(start));
    });

  return {
    take(company, scope) {
      askers.note(company);
      const ahead = lines.get(company)?.size ?? 0;
      if (ahead === 0 && mayTake(company)) return takeNow(company);
      if (ahead >= longestLine || !mayWait()) throw problem('overloaded');
      throwIfEnded(scope);
      return wait(company, scope);
    },
  };
}

function add(counts: Map<string, number>, company: string, change: number): void {
  const count = (counts.get(company) ?? 0) + change;
  if (count === 0) counts.delete(company);
  else counts.set(company, count);
}

type Askers = ReturnType<typeof createAskers>;

/** Remembers the last two companies that asked. */
export function createAskers() {
  let [last, other] = [
    { company: '', at: -recentMs },
    { company: '', at: -recentMs },
  ];
  return {
    note(company: string): void {
      const now = { company, at: performance.now() };
      [last, other] = [now, last.company === company ? other : last];
    },
    /** Returns whether another company has asked lately. */
    hasOthers: (company: string): boolean =>
      performance.now() - (last.company === company ? other : last).at < recentMs,
  };
}
