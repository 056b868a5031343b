import { answersOthers, isOfNode, wordsOf } from '../context/inquiry.ts';
import type { LaneContext } from '../context/lane-context.ts';
import type { Pause } from '../stores/lane-store.ts';

/*
 * Contracts to which nothing is sent for a while: each question about them costs time that all others wait for.
 */

const firstRestMs = 1_000;
const longestRestMs = 60_000;

/** The contracts that rest now. Forgets those that have rested for long, and that nobody has asked about since. */
export function restingContracts({ memory, now }: LaneContext): Set<string> {
  for (const [contract, { until }] of memory.resting) {
    if (until + longestRestMs < now()) memory.resting.delete(contract);
  }
  const resting = [...memory.resting].filter(([, { until }]) => until > now());
  return new Set(resting.map(([contract]) => contract));
}

/** Lets a contract rest, each time in a row for twice as long. */
export function rest({ memory, now }: LaneContext, contract: string, pause: Pause): void {
  const times = memory.resting.get(contract)?.times ?? 0;
  const restMs = Math.min(firstRestMs * 2 ** times, longestRestMs);
  memory.resting.set(contract, { until: now() + restMs, times: times + 1, pause });
}

/**
 * Asks what a mint of a contract would do. What nodes do not answer about one, while they answer other questions, must not
 * keep the others from being sent: at the second time in a row, of another poll and mostly another node, the contract rests.
 * @returns the answer, or why nothing is sent to the contract
 * @throws what it failed with, the first time, or when the nodes answer nothing else
 */
export async function askAbout<T>(
  context: LaneContext,
  contract: string,
  ask: () => Promise<T>,
): Promise<T | Pause> {
  const { memory, node, now, stopping } = context;
  try {
    return await ask();
  } catch (error) {
    if (stopping.aborted || !isOfNode(error) || !(await answersOthers(node, error, stopping))) throw error;
    const detail = `The nodes do not say what a mint of ${contract} would do: ${wordsOf(error)}`;
    const pause: Pause = { reason: 'contract_unanswered', detail };
    if (memory.resting.get(contract)?.pause.reason !== pause.reason) {
      memory.resting.set(contract, { until: now(), times: 3, pause });
      throw error;
    }
    return pause;
  }
}
