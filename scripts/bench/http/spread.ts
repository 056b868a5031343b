import { atMost } from '../limits.ts';
import type { Figures } from '../suite.ts';
import type { Comparison } from './rounds.ts';

/** What a busy machine does to the rounds of the peer it does to the service's, in other rounds and not by the same. */
const mostToPeer = 1.3;

/**
 * How far the rounds of a question are apart at worst, fastest to slowest, of the questions of which something is held:
 * their median says nothing of a service that stops now and then.
 * @param most on a quiet machine; more where the peer's are further apart
 */
export function spreadOf(
  found: readonly Comparison[],
  held: readonly string[],
  most: number,
): Pick<Figures, 'limits' | 'beside'> {
  const compared = found.filter(({ name }) => held.includes(name));
  const worst = (side: 'service' | 'peer') => Math.max(1, ...compared.map((each) => each[side].spread));
  const bound = Math.max(most, Number((mostToPeer * worst('peer')).toFixed(2)));
  return { limits: { spread: atMost(worst('service'), bound) }, beside: { spreadByHand: worst('peer') } };
}
