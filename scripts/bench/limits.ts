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
