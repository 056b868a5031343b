/*
 * What failed rests before it is asked about again: each question costs time that all others wait for.
 */

/**
 * What may rest:
 * - `proof`: an NFT or a transaction about which a question has failed, by its id;
 * - `mints`: a contract that rejects mints, or of which nodes do not say what a mint would do, by its address;
 * - `reports`: a contract that takes no report of changed metadata, by its address. Its mints go on.
 */
type Kind = 'proof' | 'mints' | 'reports';

/** By kind and id: until when, in milliseconds of the lane's clock, and how often in a row. */
export type Rests = Map<`${Kind} ${string}`, { readonly until: number; readonly times: number }>;

type Context = {
  readonly now: () => number;
  readonly memory: { readonly rests: Rests };
  readonly settings: { readonly pollMs: number };
};

// In polls. It is a minute where a poll takes a second.
const longestPolls = 64;

/** Begins a rest: a poll at first, and twice as long each time in a row, up to `longestMs`. */
export function rest(
  { memory: { rests }, now, settings: { pollMs } }: Context,
  kind: Kind,
  id: string,
  longestMs = longestPolls * pollMs,
): void {
  const times = rests.get(`${kind} ${id}`)?.times ?? 0;
  const restMs = Math.min(pollMs * 2 ** times, longestMs);
  remember(rests, `${kind} ${id}`, { until: now() + restMs, times: times + 1 });
}

/** Begins a rest of this length. */
export function restFor(
  { memory, now }: Omit<Context, 'settings'>,
  kind: Kind,
  id: string,
  ms: number,
): void {
  remember(memory.rests, `${kind} ${id}`, { until: now() + ms, times: 0 });
}

/** Ends a rest, also one that is over. @returns whether there was one */
export const endRest = ({ memory }: Pick<Context, 'memory'>, kind: Kind, id: string): boolean =>
  memory.rests.delete(`${kind} ${id}`);

/** Lists the ids of what has rested, also of rests that are over. */
export const listRested = ({ memory }: Pick<Context, 'memory'>, kind: Kind): string[] =>
  listResting({ memory, now: () => Number.NEGATIVE_INFINITY }, kind);

/** Lists the ids of what rests now. */
export const listResting = ({ memory, now }: Omit<Context, 'settings'>, kind: Kind): string[] =>
  [...memory.rests].flatMap(([key, { until }]) => {
    const [ofKind, id = ''] = key.split(' ');
    return ofKind === kind && until > now() ? [id] : [];
  });

export const isResting = ({ memory, now }: Omit<Context, 'settings'>, kind: Kind, id: string): boolean =>
  (memory.rests.get(`${kind} ${id}`)?.until ?? Number.NEGATIVE_INFINITY) > now();

// Bounds each map. A cleared map costs only questions.
const mostEntries = 10_000;

/** Sets an entry of a map that must not grow without end. */
export function remember<Key, Value>(map: Map<Key, Value>, key: Key, value: Value): Value {
  if (map.size >= mostEntries && !map.has(key)) map.clear();
  map.set(key, value);
  return value;
}
