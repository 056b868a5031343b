import { allowances, type Quantity, type Sample } from './samples.ts';

/** What a process held of something at first and at last. */
export type Growth = {
  readonly process: string;
  readonly quantity: Quantity;
  readonly first: number;
  readonly last: number;
  /** What it may hold at last, by what it held at first. */
  readonly most: number;
  readonly isWithin: boolean;
  /** About ten samples over the run, which tell a level that was reached from growth without an end. */
  readonly course: readonly number[];
};

/**
 * Compares the first samples of a process with its last, a quarter of them each: the lowest of memory, since garbage comes
 * and goes, and the middle of all else.
 */
export function growthOf(name: string, samples: readonly Sample[]): Growth[] {
  const part = Math.ceil(samples.length / 4);
  const [begin, end] = [samples.slice(0, part), samples.slice(-part)];
  const names = Object.keys(allowances) as Quantity[]; // the keys of a literal are its names
  return names.map((quantity) => {
    const { share, more } = allowances[quantity];
    const [first, last] = [begin, end].map((some) => settled(quantity, some)) as [number, number]; // of two, two
    const most = Math.round(first * (1 + share) + more);
    const course = courseOf(quantity, samples);
    return { process: name, quantity, first, last, most, isWithin: last <= most, course };
  });
}

const points = 10;

function courseOf(quantity: Quantity, samples: readonly Sample[]): number[] {
  const step = Math.max(1, Math.floor(samples.length / points));
  return samples.filter((_, index) => index % step === 0).map((sample) => Math.round(sample[quantity]));
}

function settled(quantity: Quantity, samples: readonly Sample[]): number {
  const sorted = samples.map((sample) => sample[quantity]).toSorted((a, b) => a - b);
  const at = quantity === 'heapMb' || quantity === 'memoryMb' ? 0 : Math.floor(sorted.length / 2);
  return Math.round(sorted[at] ?? 0);
}
