import { setTimeout as pause } from 'node:timers/promises';
import type { Replica } from '../../load/replica.ts';

/**
 * The figures of a process that must not grow, with how much may come and go by chance. Of memory that is a level which
 * the heap reaches in the first minutes, from 195 to 229 MB, and no growth beyond.
 */
const allowances = {
  memoryMb: { share: 0.1, more: 20 },
  heapMb: { share: 0.1, more: 20 },
  descriptors: { share: 0.2, more: 20 },
  timers: { share: 0.5, more: 20 },
  sockets: { share: 0.5, more: 20 },
} as const;

type Quantity = keyof typeof allowances;
/** What a process has at a moment. */
export type Sample = Readonly<Record<Quantity, number>>;
/** By the names of processes; undefined where one did not answer. */
export type Samples = Map<string, (Sample | undefined)[]>;

const sampleMs = 5_000;

/** Asks all processes for their metrics now and then, so many times. */
export async function takeSamples(samples: Samples, replicas: readonly Replica[], times: number) {
  for (let look = 0; look < times; look += 1) {
    for (const replica of replicas)
      samples.set(replica.name, [...(samples.get(replica.name) ?? []), await sampleOf(replica)]);
    await pause(sampleMs);
  }
}

/** @throws Error where a process lacks the metric: it would be flat for ever */
async function sampleOf({ operationsPort }: Replica): Promise<Sample | undefined> {
  const options = { signal: AbortSignal.timeout(sampleMs) };
  const read = async () => (await fetch(`http://127.0.0.1:${operationsPort}/metrics`, options)).text();
  const text = await read().catch(() => undefined);
  if (text === undefined) return undefined;
  const find = (name: string) => new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1];
  const value = (name: string) => {
    const found = Number(find(name));
    if (!Number.isFinite(found)) throw new Error(`There is no metric ${name}.`);
    return found;
  };
  // Of what there is none, there is no series.
  const resources = (type: string) => Number(find(`nodejs_active_resources\\{type="${type}"\\}`) ?? 0);
  value('nodejs_active_resources_total');
  return {
    memoryMb: value('process_resident_memory_bytes') / 1_000_000,
    heapMb: value('nodejs_heap_size_used_bytes') / 1_000_000,
    descriptors: value('process_open_fds'),
    timers: resources('Timeout'),
    sockets: resources('TCPSocketWrap'),
  };
}

/** What a process had of something at first and at last, and the most that it may have then. */
export type Growth = {
  readonly process: string;
  readonly quantity: Quantity;
  readonly first: number;
  readonly last: number;
  readonly most: number;
};

/**
 * Compares the first samples of each process with its last, a quarter of them each: the lowest of memory, since garbage comes
 * and goes, and the middle of all else.
 */
export function growthOf(samples: Samples): Growth[] {
  const names = Object.keys(allowances) as Quantity[]; // the keys of a literal are its names
  return [...samples].flatMap(([process, all]) => {
    const taken = all.filter((sample) => sample !== undefined);
    const part = Math.ceil(taken.length / 4);
    return names.map((quantity) => {
      const { share, more } = allowances[quantity];
      const first = settled(quantity, taken.slice(0, part));
      const last = settled(quantity, taken.slice(-part));
      return { process, quantity, first, last, most: Math.round(first * (1 + share) + more) };
    });
  });
}

function settled(quantity: Quantity, samples: readonly Sample[]): number {
  const sorted = samples.map((sample) => sample[quantity]).toSorted((a, b) => a - b);
  const at = quantity === 'heapMb' || quantity === 'memoryMb' ? 0 : Math.floor(sorted.length / 2);
  return Math.round(sorted[at] ?? 0);
}

/** Of the samples that were asked for. A scrape may fail once on a busy machine. */
const leastShare = 0.75;

/** What grows, and which processes did not answer, in words. */
export function growthViolations(samples: Samples): string[] {
  const few = [...samples].flatMap(([name, all]) => {
    const taken = all.filter((sample) => sample !== undefined).length;
    return taken < all.length * leastShare ? [`${name} answered ${taken} of ${all.length} scrapes`] : [];
  });
  const grown = growthOf(samples).filter(({ last, most }) => last > most);
  return [
    ...few,
    ...grown.map(
      ({ process, quantity, first, last, most }) =>
        `${quantity} of ${process} grows: ${first} to ${last}, where ${most} is the most`,
    ),
  ];
}
