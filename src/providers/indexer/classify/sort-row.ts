import { directionsOf, facetsOf } from './facets.ts';
import { kindNumber } from './kinds.ts';
import { categoryOf, type DescribedRow, isPoisoning } from './rules.ts';

/** How a row is found: its kind, and each facet with the kind that it has among the facet's rows. */
export type Sorted = { readonly kind: number; readonly facets: ReadonlyMap<string, number> };

/** Sorts a row into what searches ask for. */
export function sortRow(row: DescribedRow): Sorted {
  const kind = kindNumber({
    category: categoryOf(row),
    isSpam: isPoisoning(row),
    directions: directionsOf(row),
  });
  return { kind, facets: facetsOf(row, kind) };
}
