import type { LaneContext } from '../context/lane-context.ts';
import type { Pause } from '../stores/lane-store.ts';
import type { QueuedLine } from '../stores/queued-nft-store.ts';

/*
 * A poll goes to so many contracts in vain and no more: each costs statements and questions, while what is in flight waits to be
 * watched. The next poll goes on with the others.
 */

// Where the first ones refuse, others of which the cost is known are sent to all the same.
const mostInVain = 10;
// After so long with contracts that nothing was known of, a poll begins with no further one, however slow the node.
const firstLooksMs = 5_000;

/** The contracts that one poll goes to. */
export type Visits = {
  /** Those that it is done with. */
  readonly done: ReadonlySet<string>;
  /**
   * Chooses the next line. Without room a contract is gone to only while its cost is unknown: NFTs that it refuses for good are
   * refused before there is room, and reasons are told.
   * @param lines those of the queue, the one whose turn it is first
   * @param open those of them that have room
   * @returns undefined when the poll has done enough
   */
  next(lines: readonly QueuedLine[], open: readonly QueuedLine[]): QueuedLine | undefined;
  /** Notes what became of the line that was chosen last. */
  ended(outcome: Visit): void;
};

/**
 * - `sent`: a batch was sent, and more may be;
 * - `again`: only this NFT cannot be sent;
 * - `done`, or a pause where that has a reason: nothing more is sent to the contract in this poll.
 */
type Visit = 'sent' | 'again' | 'done' | Pause;

export function createVisits({ memory, now }: LaneContext, resting: ReadonlyMap<string, Pause>): Visits {
  const { costs } = memory;
  const done = new Set(resting.keys());
  const left = { known: mostInVain, unknown: mostInVain };
  let lookedMs = 0;
  let chosen: { readonly contract: string; readonly kind: Kind; readonly at: number } | undefined;

  const kindOf = ({ contract }: QueuedLine): Kind => (costs.has(contract) ? 'known' : 'unknown');
  const mayBeNext = (line: QueuedLine) => {
    const kind = kindOf(line);
    return left[kind] > 0 && (kind === 'known' || lookedMs < firstLooksMs);
  };
  return {
    done,
    next(lines, open) {
      const unknown = (line: QueuedLine) => kindOf(line) === 'unknown' && mayBeNext(line);
      const line = open.find(mayBeNext) ?? lines.find(unknown);
      chosen = line && { contract: line.contract, kind: kindOf(line), at: now() };
      return line;
    },
    ended(outcome) {
      if (chosen === undefined) return;
      const { contract, kind, at } = chosen;
      if (kind === 'unknown') lookedMs += now() - at;
      const pause = typeof outcome === 'string' ? undefined : outcome;
      notePassed(memory, contract, outcome === 'sent', pause);
      if (outcome === 'sent') return;
      left[kind] -= 1;
      if (outcome !== 'again') done.add(contract);
    },
  };
}

type Kind = 'known' | 'unknown';

// Nothing is lost when it is cleared: all contracts begin anew.
const maxRemembered = 100_000;

/** Remembers that nothing was sent to a contract, and why: of one company, those that were gone to longest ago are next. */
function notePassed(
  { costs, turns }: LaneContext['memory'],
  contract: string,
  isSent: boolean,
  pause: Pause | undefined,
): void {
  const isKnown = costs.has(contract);
  if (isSent || (isKnown && pause === undefined)) {
    turns.passed.delete(contract);
    return;
  }
  if (turns.passed.size >= maxRemembered) turns.passed.clear();
  // One of a known cost waits for nothing but room, and is sent to in the order of the queue.
  turns.passed.set(contract, { turn: isKnown ? 0 : turns.turn, pause });
}
