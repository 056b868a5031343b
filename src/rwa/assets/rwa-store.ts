import type { Knex } from 'knex';
import type { Database } from '../../contract/transaction.ts';
import { type CountedRows, countRows, findOffset } from '../../db/list-counts-store.ts';
import { prepared } from '../../db/prepared.ts';
import { microsSql, momentSql } from '../../db/time-counts.ts';
import {
  columns,
  detailColumns,
  type Rwa,
  type RwaDetail,
  type RwaDetailRow,
  type RwaRow,
  toRwa,
  toRwaDetail,
} from './rwa-row.ts';

/*
 * RWAs as their companies see them: every query names the company.
 */

const table = 'rwas as r';

type RwaFilter = {
  readonly type?: string | undefined;
  readonly isBuyable?: boolean | undefined;
  readonly isClaimable?: boolean | undefined;
  /** True: archived ones, too. */
  readonly includeArchived?: boolean | undefined;
};

/** The place of an RWA in the list: by creation, then id. */
export type RwaPlace = { readonly createdMicros: bigint; readonly id: string };

/** A page begins behind an RWA, or after a number of them. */
export type RwaPage = { readonly limit: number } & (
  | { readonly after: RwaPlace }
  | { readonly offset: number; readonly after?: undefined }
);

/** A page of the company's RWAs that the filter selects, ordered by creation, then id. */
export async function listRwas(
  db: Database,
  companyId: string,
  filter: RwaFilter,
  page: RwaPage,
): Promise<(Rwa & { readonly place: RwaPlace })[]> {
  const query = matching(db, companyId, filter).orderBy(['r.created_at', 'r.id']).limit(page.limit);
  if (page.after !== undefined) {
    const { createdMicros, id } = page.after;
    query.whereRaw(`(r.created_at, r.id) > (${momentSql}, ?::uuid)`, [String(createdMicros), id]);
  } else if (page.offset > 0) {
    const found = await findOffset(db, countedRwas(companyId, filter), page.offset);
    if (found === undefined) return [];
    const from = (found.place << placeShift).toString();
    query.whereRaw(`r.created_at >= ${momentSql}`, [from]).offset(found.skipped);
  }
  const rows: (RwaRow & { created_micros: string })[] = await withClaimBase(db, query, columns).select(
    db.raw(`${microsSql('r.created_at')} AS created_micros`),
  );
  return rows.map((row) => ({
    ...toRwa(row),
    place: { createdMicros: BigInt(row.created_micros), id: row.id },
  }));
}

/** How many of the company's RWAs the filter selects. */
export function countRwas(db: Database, companyId: string, filter: RwaFilter): Promise<number> {
  return countRows(db, countedRwas(companyId, filter));
}

// As migrations 0039 and 0041 have it: 2^16 microseconds are one place, and a facet is two flags with the type, or without;
// of an archived RWA, behind an `a`.
const placeShift = 16n;

function countedRwas(companyId: string, filter: RwaFilter): CountedRows {
  const { type, isBuyable, isClaimable, includeArchived } = filter;
  const flags = (wanted: boolean | undefined) => (wanted === undefined ? ['0', '1'] : [wanted ? '1' : '0']);
  const listed = flags(isBuyable).flatMap((buyable) =>
    flags(isClaimable).map((claimable) => `${buyable}${claimable}${type === undefined ? '' : `:${type}`}`),
  );
  const facets = includeArchived ? [...listed, ...listed.map((facet) => `a${facet}`)] : listed;
  return { list: 'rwas', companyId, facets };
}

function matching(db: Database, companyId: string, filter: RwaFilter): Knex.QueryBuilder {
  const query = db(table).where('r.company_id', companyId);
  if (filter.type !== undefined) query.where('r.type', filter.type);
  if (filter.isBuyable !== undefined) query.where('r.is_buyable', filter.isBuyable);
  if (filter.isClaimable !== undefined) query.where('r.is_claimable', filter.isClaimable);
  if (!filter.includeArchived) query.whereNull('r.archived_at');
  return query;
}

const findSql = `
  SELECT ${detailColumns.join(', ')}, coalesce(r.claim_base_url, c.claim_base_url) AS claim_base_url
  FROM ${table} JOIN companies c ON c.id = r.company_id WHERE r.company_id = $1 AND r.id = $2`;

/** The company's RWA; undefined when the company has no such RWA. */
export async function findRwa(db: Database, companyId: string, id: string): Promise<RwaDetail | undefined> {
  const { rows } = await prepared<RwaDetailRow>(db, 'find_rwa', findSql, [companyId, id]);
  return rows.map(toRwaDetail)[0];
}

/** The company's RWAs that have these numbers, in no order. */
export async function findRwasByNumber(
  db: Database,
  companyId: string,
  numbers: readonly bigint[],
): Promise<Rwa[]> {
  const query = db(table)
    .where('r.company_id', companyId)
    .whereRaw('r.number = ANY (?::bigint[])', [numbers.map(String)]);
  const rows: RwaRow[] = await withClaimBase(db, query, columns);
  return rows.map(toRwa);
}

/** Selects the columns and the address of the claim page, which an RWA inherits from its company. */
export function withClaimBase(db: Database, query: Knex.QueryBuilder, selected: readonly string[]) {
  return query
    .join('companies as c', 'c.id', 'r.company_id')
    .select(...selected)
    .select({ claim_base_url: db.raw('coalesce(r.claim_base_url, c.claim_base_url)') });
}
