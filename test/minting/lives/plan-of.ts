import { type Chance, createChance } from '../chance.ts';
import { faults } from './faults.ts';
import type { Plan, PlannedEvent, PlannedNode } from './plan.ts';
import { qualities } from './qualities.ts';

const deceiver = 'on a fork';
const draws = 1_000_000_007;

/** Makes the plan of a life. */
export function planOf(seed: number): Plan {
  const chance = createChance(seed);
  const workers = Array.from({ length: chance.of([1, 1, 2, 2, 2]) }, () => ({
    offset: chance.below(1_000_000),
    rate: chance.of([1, 1, 1, 0.98, 1.02]),
  }));
  return {
    seed,
    companies: 1 + chance.below(2),
    rwas: 1 + chance.below(2),
    signers: chance.below(6) === 0 ? 2 : 1,
    workers,
    nodes: planNodes(chance),
    events: planEvents(chance),
  };
}

const oneIn = (chance: Chance, count: number) => chance.below(count) === 0;

/** In three of four lives a node is sound, so that some mint whatever the others do. */
function planNodes(chance: Chance): PlannedNode[] {
  const count = chance.of([1, 1, 2, 2, 3]);
  const soundAt = oneIn(chance, 4) ? -1 : chance.below(count);
  const names = Object.keys(qualities);
  let deceivers = 0;
  const drawn = () => {
    const name = chance.of(names);
    if (name !== deceiver) return name;
    deceivers += 1;
    // Whoever believes one node alone is deceived by it, and a majority is right.
    return soundAt >= 0 && deceivers === 1 ? name : 'lags';
  };
  return Array.from({ length: count }, (_, index) => ({
    quality: index === soundAt ? 'sound' : drawn(),
    draw: chance.below(draws),
    ms: chance.of([0, 0, 0, 5, 40, 300]),
  }));
}

function planEvents(chance: Chance): PlannedEvent[] {
  const kinds = Object.entries(faults).flatMap(([kind, { weight }]) =>
    Array.from({ length: weight }, () => kind),
  );
  const event = (kind: string) => ({
    after: chance.of([0, 500, 2_000, 6_000, 15_000]),
    kind,
    draw: chance.below(draws),
  });
  const length = 3 + chance.below(7);
  return [event('mint'), ...Array.from({ length }, () => event(chance.of(kinds)))];
}
