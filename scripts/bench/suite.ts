type SuiteOptions = { readonly isQuick: boolean; readonly say: (line: string) => void };

/**
 * Something that can be measured. Its figures become the last line of the run; when limits are not met, the run has
 * failed.
 */
export type Suite = {
  readonly about: string;
  readonly run: (options: SuiteOptions) => Promise<Figures>;
};

export type Figures = Readonly<Record<string, unknown>> & {
  readonly ok: boolean;
  readonly limits: Limits;
  /** Comparisons of things measured in the same run. */
  readonly ratios?: Readonly<Record<string, number>>;
  /** What the machine gives something that does less, next to a bound that is no ratio. */
  readonly beside?: Readonly<Record<string, number>>;
  /** The text next to a figure in the table of several suites, by its name. */
  readonly notes?: Readonly<Record<string, string>>;
  /** Remarks for readers of the figures, such as a part that could not run. */
  readonly remarks?: readonly string[];
};

export function rounded(value: number): number {
  return Number(value.toPrecision(3));
}

/** A figure with its bound, and whether it is met. */
export type Limit = { readonly value: number; readonly ok: boolean } & (
  | { readonly least: number }
  | { readonly most: number }
  | { readonly below: number }
);

export type Limits = Readonly<Record<string, Limit>>;

export const atLeast = (value: number, least: number): Limit => ({ value, least, ok: value >= least });
export const atMost = (value: number, most: number): Limit => ({ value, most, ok: value <= most });
export const below = (value: number, bound: number): Limit => ({ value, below: bound, ok: value < bound });

export const areHeld = (limits: Limits): boolean => Object.values(limits).every(({ ok }) => ok);

/** The bound in words, such as `at least 0.6`. */
export function boundOf(limit: Limit): string {
  if ('least' in limit) return `at least ${limit.least}`;
  if ('most' in limit) return `at most ${limit.most}`;
  return `below ${limit.below}`;
}
