import { directionsOf, facetsOf } from './facets.ts';
import { kindNumber } from './kinds.ts';
import { categoryOf, type DescribedRow } from './rules.ts';
import { isSpamRow } from './spam.ts';

/**
 * Returns how a search finds a row: by its kind, and by each facet with the kind that the facet has. It depends on the
 * stored content only, because names and lists of tokens may change.
 */
export function sortRow(row: DescribedRow) {
  const kind = kindNumber({
    category: categoryOf(row),
    isSpam: isSpamRow(row, () => 'unknown'),
    directions: directionsOf(row),
  });
  return { kind, facets: facetsOf(row, kind) };
}
