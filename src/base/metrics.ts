import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { inTime } from './in-time.ts';

/** A metric: its full name, its help text, and the names of its labels. Labels must have few values. */
type Spec<Label extends string> = {
  readonly name: `tallystick_${string}`;
  readonly help: string;
  readonly labels?: readonly Label[];
};

/** A value of a gauge with its labels. */
type Level = { readonly labels: Readonly<Record<string, string>>; readonly value: number };

type Levels<Name extends string> = {
  readonly gauges: Readonly<Record<Name, Spec<string>>>;
  /** Reads the values at each scrape. */
  readonly sources: () => readonly LevelSource<Name>[];
};

/** A source of gauges. All sources are read in parallel; one that takes over 2 s has failed. */
export type LevelSource<Name extends string> = {
  readonly name: string;
  readonly read: () => Promise<Found<Name>>;
};

type Found<Name extends string> = Readonly<Partial<Record<Name, readonly Level[]>>>;

/** The metrics of one process, for Prometheus. */
export type Metrics = {
  counter<Label extends string>(spec: Spec<Label>): Counter<Label>;
  /** @param spec.buckets upper bounds in seconds, ascending */
  histogram<Label extends string>(spec: Spec<Label> & { readonly buckets: number[] }): Histogram<Label>;
  /** Registers gauges that a source reads. While a source fails, only its own gauges have no values. */
  levels<Name extends string>(levels: Levels<Name>): void;
  /** Adds the metrics of Node: memory, processor, event loop, garbage collection. */
  watchProcess(): void;
  /** Describes the service's own metrics, as docs/operate/metrics.md lists them. */
  list(): readonly MetricEntry[];
  scrape(): Promise<{ readonly contentType: string; readonly text: string }>;
};

export type MetricEntry = {
  readonly name: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly labels: readonly string[];
  readonly help: string;
};

const readTimeoutMs = 2_000;

export function createMetrics(onFailure: (source: string, error: unknown) => void): Metrics {
  const registry = new Registry();
  const registers = [registry];
  const refreshes: (() => Promise<void>)[] = [];
  const singleFlight = createSingleFlight();
  const entries: MetricEntry[] = [];
  /** Converts a specification to the form of prom-client. */
  const enter = <Label extends string>(type: MetricEntry['type'], spec: Spec<Label>) => {
    const { name, help, labels = [] } = spec;
    entries.push({ name, type, labels, help });
    return { name, help, labelNames: labels, registers };
  };
  const failures = new Counter(
    enter('counter', {
      name: 'tallystick_scrape_failures_total',
      help: 'Levels that could not be read during a scrape, by source.',
      labels: ['source'],
    }),
  );

  return {
    counter: (spec) => new Counter(enter('counter', spec)),
    histogram: (spec) => new Histogram({ ...enter('histogram', spec), buckets: spec.buckets }),
    levels<Name extends string>({ gauges, sources }: Levels<Name>) {
      const made = Object.entries<Spec<string>>(gauges).map(([key, spec]) => {
        const gauge = new Gauge(enter('gauge', spec));
        const isBare = spec.labels === undefined;
        return { key: key as Name, gauge, isBare }; // the keys of the record are its names
      });
      const ask = async ({ name, read }: LevelSource<Name>): Promise<Found<Name> | undefined> => {
        failures.inc({ source: name }, 0);
        try {
          return await inTime(singleFlight(name, read), readTimeoutMs);
        } catch (error) {
          failures.inc({ source: name });
          onFailure(name, error);
          return undefined;
        }
      };
      refreshes.push(async () => {
        const found = await Promise.all(sources().map(ask));
        for (const { key, gauge, isBare } of made) {
          // A stale value would pass for a present value, and so would the 0 that a gauge without labels begins with.
          gauge.reset();
          if (isBare) gauge.remove();
          for (const { labels, value } of found.flatMap((each) => each?.[key] ?? []))
            gauge.set({ ...labels }, value);
        }
      });
    },
    list: () => entries.toSorted((one, other) => (one.name < other.name ? -1 : 1)),
    watchProcess: () => collectDefaultMetrics({ register: registry }),
    async scrape() {
      await Promise.all(refreshes.map((refresh) => refresh()));
      return { contentType: registry.contentType, text: await registry.metrics() };
    },
  };
}

/**
 * Shares a read that is in flight among all callers that ask for it by its name, so that reads of a source that hangs
 * do not pile up with every scrape.
 */
function createSingleFlight() {
  const inFlight = new Map<string, Promise<unknown>>();
  return <T>(name: string, read: () => Promise<T>): Promise<T> => {
    const reading = inFlight.get(name) ?? read().finally(() => inFlight.delete(name));
    inFlight.set(name, reading);
    return reading as Promise<T>; // reads of one name have one type
  };
}
