import { answersOthers, isOfNode, wordsOf } from '../context/inquiry.ts';
import type { LaneContext } from '../context/lane-context.ts';
import type { Pause } from '../stores/lane-store.ts';

// A question that is not answered takes its time at each poll, which all others wait for.
const restMs = 60_000;

/** The contracts about which nothing is asked now, and why. */
export function restingContracts({ memory, now }: LaneContext): ReadonlyMap<string, Pause> {
  const resting = [...memory.unanswered].filter(([, { until }]) => until > now());
  return new Map(resting.map(([contract, { pause }]) => [contract, pause]));
}

/**
 * Asks what a mint of a contract would do. What nodes do not answer about one, while they answer other questions, must not keep the
 * others from being sent: at the second time in a row, of another poll and mostly another node, the contract rests.
 * @returns the answer, or why nothing is sent to the contract
 * @throws what it failed with, the first time, or when the nodes answer nothing else
 */
export async function askAbout<T>(
  { memory, node, now, stopping }: LaneContext,
  contract: string,
  ask: () => Promise<T>,
): Promise<T | Pause> {
  try {
    const answer = await ask();
    memory.unanswered.delete(contract);
    return answer;
  } catch (error) {
    if (stopping.aborted || !isOfNode(error) || !(await answersOthers(node, error, stopping))) throw error;
    const detail = `The nodes do not say what a mint of ${contract} would do: ${wordsOf(error)}`;
    const pause: Pause = { reason: 'contract_unanswered', detail };
    const isAgain = memory.unanswered.has(contract);
    memory.unanswered.set(contract, { until: isAgain ? now() + restMs : now(), pause });
    if (!isAgain) throw error;
    return pause;
  }
}
