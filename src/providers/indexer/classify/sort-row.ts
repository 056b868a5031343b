import { directionsOf, facetsOf } from './facets.ts';
import { kindNumber } from './kinds.ts';
import { categoryOf, type DescribedRow } from './rules.ts';
import { isSpamRow } from './spam.ts';

/** How a search finds a row: by its kind, and by each facet with the kind that the facet has. */
export type Sorted = { readonly kind: number; readonly facets: ReadonlyMap<string, number> };

/** Sorts a row for searches by its stored content only. Names and lists of tokens may change. */
export function sortRow(row: DescribedRow): Sorted {
  const kind = kindNumber({
    category: categoryOf(row),
    isSpam: isSpamRow(row, () => 'unknown'),
    directions: directionsOf(row),
  });
  return { kind, facets: facetsOf(row, kind) };
}
