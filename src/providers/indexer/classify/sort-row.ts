import { directionsOf, facetsOf } from './facets.ts';
import { kindNumber } from './kinds.ts';
import { categoryOf, type DescribedRow } from './rules.ts';
import { isSpamRow } from './spam.ts';

/** How a row is found: its kind, and each facet with the kind that it has among the facet's rows. */
export type Sorted = { readonly kind: number; readonly facets: ReadonlyMap<string, number> };

/** Sorts a row into what searches ask for, by what is stored: names and lists of tokens may change. */
export function sortRow(row: DescribedRow): Sorted {
  const kind = kindNumber({
    category: categoryOf(row),
    isSpam: isSpamRow(row, () => 'unknown'),
    directions: directionsOf(row),
  });
  return { kind, facets: facetsOf(row, kind) };
}
