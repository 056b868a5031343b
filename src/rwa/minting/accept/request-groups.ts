import { problem } from '../../../base/errors.ts';
import { currentScope, inSharedScope } from '../../../base/request-scope.ts';
import type { Span } from '../../../base/span.ts';
import { currentSpan } from '../../../tracing/in-span.ts';

export type GroupOptions<Request, Outcome> = {
  /** Requests of the same line and tenant may share a group. */
  readonly lineOf: (request: Request) => string;
  /** Requests for the same subject, compared as the keys of a Map are, are never in one group. */
  readonly subjectOf: (request: Request) => unknown;
  /**
   * Runs a group: gives an outcome for each request, in their order. A rejection rejects the whole group.
   * @param requests of one line, at least 1 and at most 32
   */
  readonly run: (requests: readonly Request[]) => Promise<readonly Outcome[]>;
  /** How long a request waits for its turn. 5 s by default, as long as for a connection of the pool. */
  readonly patienceMs?: number | undefined;
};

/**
 * Adds a request to the next group of its line.
 * @throws what its group throws; problem `service_unavailable` when its turn does not come in time, and then it is
 * never run
 */
export type AddRequest<Request, Outcome> = (request: Request) => Promise<Outcome>;

type Waiting<Request, Outcome> = {
  readonly request: Request;
  readonly span: Span | undefined;
  readonly patience: NodeJS.Timeout;
  readonly resolve: (outcome: Outcome) => void;
  readonly reject: (error: unknown) => void;
};
type Line<Request, Outcome> = { waiting: Waiting<Request, Outcome>[]; running: number };

const groupsAtOnce = 2;
const largestGroup = 32;

/**
 * Groups requests that come at the same time. While few come, each runs alone and waits for nothing. While two groups
 * of a line run, further requests wait, and the next group takes them together.
 */
export function createRequestGroups<Request, Outcome>({
  lineOf,
  subjectOf,
  run,
  patienceMs = 5_000,
}: GroupOptions<Request, Outcome>): AddRequest<Request, Outcome> {
  const lines = new Map<string, Line<Request, Outcome>>();

  const startGroups = (name: string, line: Line<Request, Outcome>) => {
    while (line.running < groupsAtOnce && line.waiting.length > 0) {
      const group = takeGroup(line, subjectOf);
      line.running += 1;
      void runGroup(group, run).finally(() => {
        line.running -= 1;
        startGroups(name, line);
      });
    }
    if (line.running === 0 && lines.get(name) === line) lines.delete(name);
  };

  return (request) => {
    // Each tenant has its own line: a group takes the share of its first request, which strangers must not pay with or
    // take.
    const name = `${currentScope()?.tenant ?? ''} ${lineOf(request)}`;
    const line = lines.get(name) ?? { waiting: [], running: 0 };
    lines.set(name, line);
    const { promise, resolve, reject } = Promise.withResolvers<Outcome>();
    const giveUp = () => {
      line.waiting = line.waiting.filter((other) => other !== waiting);
      reject(problem('service_unavailable', {}, { cause: new Error('no turn in time') }));
    };
    const patience = setTimeout(giveUp, patienceMs);
    const waiting = { request, span: currentSpan(), patience, resolve, reject };
    line.waiting.push(waiting);
    currentScope()?.onAway?.();
    // Requests of the same tick go together.
    if (line.waiting.length === 1) setImmediate(startGroups, name, line);
    return promise;
  };
}

/** Takes the next group out of the line: the first of each subject, in the order in which they came. */
function takeGroup<Request, Outcome>(
  line: Line<Request, Outcome>,
  subjectOf: (request: Request) => unknown,
): Waiting<Request, Outcome>[] {
  const group = new Map<unknown, Waiting<Request, Outcome>>();
  const left: Waiting<Request, Outcome>[] = [];
  for (const waiting of line.waiting) {
    const subject = subjectOf(waiting.request);
    if (group.size === largestGroup || group.has(subject)) left.push(waiting);
    else group.set(subject, waiting);
  }
  line.waiting = left;
  return [...group.values()];
}

/** Never rejects: each request learns what became of it. */
async function runGroup<Request, Outcome>(
  group: readonly Waiting<Request, Outcome>[],
  run: GroupOptions<Request, Outcome>['run'],
): Promise<void> {
  for (const { patience } of group) clearTimeout(patience);
  const [span, ...others] = group.flatMap((waiting) => waiting.span ?? []);
  // The trace of the first request has the work for the whole group.
  for (const other of others) if (span !== undefined) other.link(span.traceparent);
  try {
    const outcomes = await inSharedScope({ isOfTenant: true, span }, () =>
      run(group.map(({ request }) => request)),
    );
    for (const [index, { resolve, reject }] of group.entries()) {
      const outcome = outcomes[index];
      if (outcome === undefined) reject(new Error('The group gave no outcome for a request.'));
      else resolve(outcome);
    }
  } catch (error) {
    for (const { reject } of group) reject(error);
  }
}
