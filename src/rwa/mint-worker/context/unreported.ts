import type { LaneContext } from './lane-context.ts';

/*
 * Contracts to which no report of changed metadata is sent for a while. That changes nothing about their mints.
 */

const firstRestMs = 1_000;
// As long as between two transactions to a contract that makes mints fail.
const longestRestMs = 3_600_000;

type Context = Pick<LaneContext, 'memory' | 'now'>;

/** The contracts to which none is sent now. */
export const unreportedContracts = ({ memory, now }: Context): string[] =>
  [...memory.unreported].flatMap(([contract, { until }]) => (until > now() ? [contract] : []));

/** Lets a contract rest, each time in a row for twice as long. */
export function restReports({ memory, now }: Context, contract: string, longestMs = longestRestMs): void {
  const times = memory.unreported.get(contract)?.times ?? 0;
  const restMs = Math.min(firstRestMs * 2 ** times, longestMs);
  memory.unreported.set(contract, { until: now() + restMs, times: times + 1 });
}

/** Lets a contract rest that reverted a report, which cost gas. */
export function restForLong({ memory, now }: Context, contract: string): void {
  memory.unreported.set(contract, { until: now() + longestRestMs, times: 0 });
}
