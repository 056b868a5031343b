import { untilAborted } from '../in-time.ts';
import { OutgoingFault } from './outgoing-fault.ts';

type Call<T> = {
  readonly work: () => Promise<T>;
  /** In whose line it waits. */
  readonly line: string;
  /** Greatest wait for the turn. */
  readonly waitMs: number;
  /** Whoever waits leaves with its request. */
  readonly asker: AbortSignal | undefined;
};

type Line = { readonly waiting: Set<() => void>; active: number };

/**
 * Runs work in turns, so many at once. What becomes free goes to the line that has the fewest under way, in rotation
 * where that is the same, and within a line in the order of asking: who waits behind many waits behind its own.
 */
export function createTurns(places: number): <T>(call: Call<T>) => Promise<T> {
  const lines = new Map<string, Line>();
  let free = places;

  const next = (): [string, Line] | undefined => {
    let found: [string, Line] | undefined;
    for (const entry of lines) {
      const [, { waiting, active }] = entry;
      if (waiting.size > 0 && (found === undefined || active < found[1].active)) found = entry;
    }
    return found;
  };

  const end = (name: string, line: Line) => {
    free += 1;
    line.active -= 1;
    const [nextName, nextLine] = next() ?? [];
    if (nextLine !== undefined && nextName !== undefined) begin(nextName, nextLine);
    if (line.active === 0 && line.waiting.size === 0) lines.delete(name);
  };

  /** Begins the first that waits in the line, if one does, or whoever asks. */
  const begin = (name: string, line: Line) => {
    free -= 1;
    line.active += 1;
    lines.delete(name);
    lines.set(name, line);
    const [first] = line.waiting;
    if (first === undefined) return;
    line.waiting.delete(first);
    first();
  };

  const wait = async (name: string, line: Line, { waitMs, asker }: Omit<Call<unknown>, 'work' | 'line'>) => {
    const turn = Promise.withResolvers<void>();
    line.waiting.add(turn.resolve);
    const late = AbortSignal.timeout(waitMs);
    try {
      await untilAborted(turn.promise, asker === undefined ? late : AbortSignal.any([late, asker]));
    } catch (cause) {
      // The turn may have come in the same moment.
      if (!line.waiting.delete(turn.resolve)) end(name, line);
      else if (line.active === 0 && line.waiting.size === 0) lines.delete(name);
      asker?.throwIfAborted();
      throw new OutgoingFault('busy', `no turn to ask within ${waitMs} ms`, { cause });
    }
  };

  return async ({ work, line: name, waitMs, asker }) => {
    const line = lines.get(name) ?? { waiting: new Set(), active: 0 };
    lines.set(name, line);
    if (free > 0) begin(name, line);
    else await wait(name, line, { waitMs, asker });
    try {
      return await work();
    } finally {
      end(name, line);
    }
  };
}
