/**
 * Called once, when a request that was taken on is over.
 * @param isRefused whether it was refused for the load after all, by a part that knows more of it
 */
export type EndRequest = (isRefused: boolean) => void;

type Ends = {
  readonly onAnswered: () => void;
  /** Called for a request of a company. */
  readonly onRefused: (tenant: string) => void;
};

/** Requests that came in a short time. Those that came too long ago count no longer. */
type Span = {
  readonly since: number;
  open: number;
  isOver: boolean;
  /** Whose requests were refused late in it; undefined for nobody's. */
  readonly refused: (string | undefined)[];
};

const newSpan = (since: number): Span => ({ since, open: 0, isOver: false, refused: [] });

// A request that is under way for longer waits for somebody else: the process would have answered it.
const waitsForOthersMs = 1_000;

/** Counts the requests under way that the process is at, those of each company, and those of all strangers together. */
export function createUnderWay(began: number) {
  const ofTenant = new Map<string | undefined, number>();
  let current = newSpan(began);
  let earlier: Span[] = [];
  let count = 0;

  const leave = (span: Span, leaving: number) => {
    if (span.isOver) return;
    span.open -= leaving;
    count -= leaving;
  };
  const leaveTenant = (tenant: string | undefined) => {
    const left = (ofTenant.get(tenant) ?? 1) - 1;
    if (left === 0) ofTenant.delete(tenant);
    else ofTenant.set(tenant, left);
  };

  return {
    count: () => count,
    /** Companies that have requests under way. */
    tenants: () => ofTenant.size - (ofTenant.has(undefined) ? 1 : 0),
    /** @param tenant undefined for strangers */
    ofTenant: (tenant: string | undefined) => ofTenant.get(tenant) ?? 0,
    begin(tenant: string | undefined, { onAnswered, onRefused }: Ends): EndRequest {
      const span = current;
      span.open += 1;
      count += 1;
      ofTenant.set(tenant, (ofTenant.get(tenant) ?? 0) + 1);
      return (isRefused) => {
        if (!isRefused) onAnswered();
        else if (tenant !== undefined) onRefused(tenant);
        // A refusal so late on its way costs as much as an answer: it takes the place of one.
        if (isRefused && span === current) {
          span.refused.push(tenant);
          return;
        }
        leave(span, 1);
        leaveTenant(tenant);
      };
    },
    /** Begins another span. */
    turn(at: number): void {
      leave(current, current.refused.length);
      current.refused.forEach(leaveTenant);
      earlier.push(current);
      current = newSpan(at);
      for (const span of earlier) {
        if (at - span.since <= waitsForOthersMs) continue;
        leave(span, span.open);
        span.isOver = true;
      }
      earlier = earlier.filter(({ isOver }) => !isOver);
    },
  };
}
