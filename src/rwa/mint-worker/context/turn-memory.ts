import type { Pause } from '../stores/lane-store.ts';
import type { QueuedLine } from '../stores/queued-nft-store.ts';

/** Whose turn it is. */
export type Turns = {
  /** The turn in which NFTs of a company were last sent. */
  readonly served: Map<string, number>;
  turn: number;
  /** Contracts that were gone to in vain, by their address: in which turn that last was, and why where it has a reason. */
  readonly passed: Map<string, Passed>;
  /** The line after which the queue is listed, where it has more lines than are listed at once. */
  after: QueuedLine | undefined;
  /** Of the transactions in flight, as far as they were asked for. */
  companiesInFlight: ReadonlyMap<string, readonly string[]>;
};

type Passed = { readonly turn: number; readonly pause: Pause | undefined };

export const createTurns = (): Turns => ({
  served: new Map(),
  turn: 0,
  passed: new Map(),
  after: undefined,
  companiesInFlight: new Map(),
});

// Nothing is lost when it is cleared: all companies begin anew.
const maxRemembered = 100_000;

/** Notes that NFTs of these companies were sent, or tried. */
export function takeTurn(turns: Turns, companyIds: readonly string[]): void {
  turns.turn += 1;
  if (turns.served.size >= maxRemembered) turns.served.clear();
  for (const id of companyIds) turns.served.set(id, turns.turn);
}

/**
 * Orders lines by the last turns of their companies, those of one company by when their contracts were gone to in vain, and then by
 * the time that they wait.
 */
export function inTurn(
  lines: readonly QueuedLine[],
  served: ReadonlyMap<string, number>,
  passed: Turns['passed'] = new Map(),
): QueuedLine[] {
  const turnOf = ({ companyId }: QueuedLine) => served.get(companyId) ?? 0;
  const passedAt = ({ contract }: QueuedLine) => passed.get(contract)?.turn ?? 0;
  return lines.toSorted(
    (one, other) =>
      turnOf(one) - turnOf(other) ||
      passedAt(one) - passedAt(other) ||
      one.queuedAt.getTime() - other.queuedAt.getTime(),
  );
}
