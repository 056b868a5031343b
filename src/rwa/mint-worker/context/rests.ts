/*
 * What failed rests before it is asked about again: each question costs time that all others wait for.
 */

/** By the id of what rests: until when, in milliseconds of the lane's clock, and how often in a row. */
export type Rests = Map<string, { readonly until: number; readonly times: number }>;

type Context = { readonly now: () => number; readonly settings: { readonly pollMs: number } };

// In polls. It is a minute where a poll takes a second.
const longestPolls = 64;

/** Begins a rest: a poll at first, and twice as long each time in a row, up to `longestMs`. */
export function rest(
  { now, settings: { pollMs } }: Context,
  rests: Rests,
  id: string,
  longestMs = longestPolls * pollMs,
): void {
  const times = rests.get(id)?.times ?? 0;
  const restMs = Math.min(pollMs * 2 ** times, longestMs);
  remember(rests, id, { until: now() + restMs, times: times + 1 });
}

/** Lists what rests now. */
export const listResting = ({ now }: Pick<Context, 'now'>, rests: Rests): string[] =>
  [...rests].flatMap(([id, { until }]) => (until > now() ? [id] : []));

export const isResting = ({ now }: Pick<Context, 'now'>, rests: Rests, id: string): boolean =>
  (rests.get(id)?.until ?? Number.NEGATIVE_INFINITY) > now();

// Bounds each map. A cleared map costs only questions.
const mostEntries = 10_000;

/** Sets an entry of a map that must not grow without end. */
export function remember<Key, Value>(map: Map<Key, Value>, key: Key, value: Value): Value {
  if (map.size >= mostEntries && !map.has(key)) map.clear();
  map.set(key, value);
  return value;
}
