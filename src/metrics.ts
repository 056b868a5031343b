import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';

/** A metric: its name in full, what it says, and the names of its labels, whose values must be few. */
type Spec<Label extends string> = {
  readonly name: `tallystick_${string}`;
  readonly help: string;
  readonly labels?: readonly Label[];
};

/** A value of a level under its labels. */
type Level = { readonly labels: Readonly<Record<string, string>>; readonly value: number };

type Levels<Name extends string> = {
  /** Names what is asked, where it fails. */
  readonly source: string;
  readonly gauges: Readonly<Record<Name, Spec<string>>>;
  /** Asked at each scrape, side by side with the others; what takes over 2 s has failed. */
  readonly read: () => Promise<Readonly<Record<Name, readonly Level[]>>>;
};

/** What operators see of one process, as Prometheus reads it. */
export type Metrics = {
  counter<Label extends string>(spec: Spec<Label>): Counter<Label>;
  /** @param spec.buckets upper bounds in seconds, ascending */
  histogram<Label extends string>(spec: Spec<Label> & { readonly buckets: number[] }): Histogram<Label>;
  /** Levels that somebody else knows. While their source fails they have no values, and the others do. */
  levels<Name extends string>(levels: Levels<Name>): void;
  /** Adds what Node knows of the process: memory, processor, event loop, garbage collection. */
  watchProcess(): void;
  /** All metrics in the text format of Prometheus. */
  scrape(): Promise<{ readonly contentType: string; readonly text: string }>;
};

const readTimeoutMs = 2_000;

/** Metrics of a registry of their own. */
export function createMetrics(onFailure: (source: string, error: unknown) => void): Metrics {
  const registry = new Registry();
  const registers = [registry];
  const sources: (() => Promise<void>)[] = [];
  const failures = new Counter({
    name: 'tallystick_scrape_failures_total',
    help: 'Levels that could not be read at a scrape, by what was asked.',
    labelNames: ['source'],
    registers,
  });

  return {
    counter: ({ name, help, labels = [] }) => new Counter({ name, help, labelNames: labels, registers }),
    histogram: ({ name, help, labels = [], buckets }) =>
      new Histogram({ name, help, labelNames: labels, buckets, registers }),
    levels<Name extends string>({ source, gauges, read }: Levels<Name>) {
      const made = Object.entries<Spec<string>>(gauges).map(([key, { name, help, labels = [] }]) => {
        const gauge = new Gauge({ name, help, labelNames: labels, registers });
        return { key: key as Name, gauge }; // the keys of the record are its names
      });
      const ask = oneAtATime(read);
      failures.inc({ source }, 0);
      sources.push(async () => {
        try {
          const found = await inTime(ask());
          for (const { key, gauge } of made) {
            gauge.reset();
            for (const { labels, value } of found[key]) gauge.set({ ...labels }, value);
          }
        } catch (error) {
          // Without a value rather than with one that was true once.
          for (const { gauge } of made) gauge.reset();
          failures.inc({ source });
          onFailure(source, error);
        }
      });
    },
    watchProcess: () => collectDefaultMetrics({ register: registry }),
    async scrape() {
      await Promise.all(sources.map((refresh) => refresh()));
      return { contentType: registry.contentType, text: await registry.metrics() };
    },
  };
}

/** A question that hangs is not asked again beside itself, however often somebody scrapes. */
function oneAtATime<T>(ask: () => Promise<T>): () => Promise<T> {
  let asked: Promise<T> | undefined;
  return () => {
    asked ??= ask().finally(() => {
      asked = undefined;
    });
    return asked;
  };
}

async function inTime<T>(answer: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`took over ${readTimeoutMs} ms`)), readTimeoutMs);
  });
  try {
    return await Promise.race([answer, late]);
  } finally {
    clearTimeout(timer);
  }
}
