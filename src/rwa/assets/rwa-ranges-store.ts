import type { Knex } from 'knex';
import type { Database } from '../../contract/transaction.ts';

export type RwaFilter = {
  readonly type?: string | undefined;
  readonly isBuyable?: boolean | undefined;
  readonly isClaimable?: boolean | undefined;
  /** True: archived ones, too. */
  readonly includeArchived?: boolean | undefined;
};

/** RWAs that an index has side by side in the order of the list (migrations 0041 and 0048). */
type Range = {
  readonly type?: string | undefined;
  readonly flags?: { readonly is_buyable: boolean; readonly is_claimable: boolean };
  /** Undefined: whether they are or not. */
  readonly isArchived?: boolean;
};

const place = ['created_at', 'id'];

/** The values of a flag that a filter leaves. */
export const flagsOf = (wanted: boolean | undefined): readonly boolean[] =>
  wanted === undefined ? [false, true] : [wanted];

// Without a filter, all of them are side by side already.
function rangesOf({ type, isBuyable, isClaimable, includeArchived = false }: RwaFilter): readonly Range[] {
  if ((type ?? isBuyable ?? isClaimable) === undefined) return [includeArchived ? {} : { isArchived: false }];
  const flags = flagsOf(isBuyable).flatMap((is_buyable) =>
    flagsOf(isClaimable).map((is_claimable) => ({ is_buyable, is_claimable })),
  );
  return flagsOf(includeArchived ? undefined : false).flatMap((isArchived) =>
    flags.map((each) => ({ type, flags: each, isArchived })),
  );
}

function inRange(db: Database, companyId: string, { type, flags, isArchived }: Range): Knex.QueryBuilder {
  const query = db('rwas').select(place).where('company_id', companyId);
  if (type !== undefined) query.where({ type });
  if (flags !== undefined) query.where(flags);
  if (isArchived !== undefined) query.whereRaw(`archived_at IS ${isArchived ? 'NOT ' : ''}NULL`);
  return query;
}

/** Where to begin in each range, and how much to read. */
export type Reading = {
  readonly from: (range: Knex.QueryBuilder) => void;
  readonly limit: number;
  readonly skipped: number;
};

/**
 * A page of the places of a company's RWAs that the filter selects, in the order of the list: selects their `created_at` and
 * `id`.
 */
export function pageOfPlaces(
  db: Database,
  companyId: string,
  filter: RwaFilter,
  { from, limit, skipped }: Reading,
): Knex.QueryBuilder {
  const ranges = rangesOf(filter).map((range) => inRange(db, companyId, range));
  // Each by itself, or the server reads all of every range and sorts.
  for (const range of ranges) {
    from(range);
    range.orderBy(place).limit(limit + skipped);
  }
  const all = db.queryBuilder().unionAll(ranges, true);
  return db.select(place).from(all.as('places')).orderBy(place).limit(limit).offset(skipped);
}
