import type { Plan } from './plan.ts';

const mostTries = 60;

/** What goes wrong, without the names and numbers of a life. */
export const kindOf = (found: string): string => found.replaceAll(/0x\w+|\d+/g, '');

/**
 * Finds a shorter life that goes wrong, too: with fewer events, nodes, workers and companies.
 * @param isWrong lives a plan
 */
export async function shrink(plan: Plan, isWrong: (plan: Plan) => Promise<boolean>): Promise<Plan> {
  let smallest = plan;
  let tries = 0;
  for (;;) {
    let isSmaller = false;
    for (const candidate of smallerThan(smallest)) {
      tries += 1;
      if (tries > mostTries) return smallest;
      if (!(await isWrong(candidate))) continue;
      smallest = candidate;
      isSmaller = true;
      break;
    }
    if (!isSmaller) return smallest;
  }
}

/** Plans with less in them, those with the least first. */
function* smallerThan(plan: Plan): Generator<Plan> {
  const { events, nodes, workers } = plan;
  const half = Math.ceil(events.length / 2);
  if (events.length > 1) {
    yield { ...plan, events: events.slice(0, half) };
    yield { ...plan, events: events.slice(half) };
  }
  for (const index of events.keys()) yield { ...plan, events: events.toSpliced(index, 1) };
  if (workers.length > 1) yield { ...plan, workers: workers.slice(0, -1) };
  if (nodes.length > 1) for (const index of nodes.keys()) yield { ...plan, nodes: nodes.toSpliced(index, 1) };
  const odd = nodes.findIndex(({ quality }) => quality !== 'sound');
  const sound = nodes[odd];
  if (sound !== undefined) yield { ...plan, nodes: nodes.with(odd, { ...sound, quality: 'sound' }) };
  if (plan.companies > 1) yield { ...plan, companies: 1 };
  if (plan.rwas > 1) yield { ...plan, rwas: 1 };
  if (plan.signers > 1) yield { ...plan, signers: 1 };
}
