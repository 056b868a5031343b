import type { Knex } from 'knex';
import type { Database } from '../../contract/transaction.ts';
import { type CountedRows, countRows, findOffset } from '../../db/list-counts-store.ts';
import { endsOf } from '../../db/list-levels.ts';
import { prepared } from '../../db/prepared.ts';
import { microsSql, momentSql } from '../../db/time-counts.ts';
import { flagsOf, pageOfPlaces, type Reading, type RwaFilter } from './rwa-ranges-store.ts';
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
  const start = await startOf(db, companyId, filter, page);
  if (start === undefined) return [];
  const places = pageOfPlaces(db, companyId, filter, { ...start, limit: page.limit });
  // Rows that an offset skips are not read: the indexes have what the order needs.
  const query = db(table)
    .where('r.company_id', companyId)
    .whereIn('r.id', db.select('id').from(places.as('page')))
    .orderBy(['r.created_at', 'r.id']);
  const rows: (RwaRow & { created_micros: string })[] = await withClaimBase(db, query, columns).select(
    db.raw(`${microsSql('r.created_at')} AS created_micros`),
  );
  return rows.map((row) => ({
    ...toRwa(row),
    place: { createdMicros: BigInt(row.created_micros), id: row.id },
  }));
}

/** Where to begin to read, so that next to nothing is skipped; undefined past the end. */
async function startOf(
  db: Database,
  companyId: string,
  filter: RwaFilter,
  page: RwaPage,
): Promise<Omit<Reading, 'limit'> | undefined> {
  if (page.after !== undefined) {
    const { createdMicros, id } = page.after;
    return {
      from: (range) =>
        range.whereRaw(`(created_at, id) > (${momentSql}, ?::uuid)`, [String(createdMicros), id]),
      skipped: 0,
    };
  }
  if (page.offset === 0) return { from: () => {}, skipped: 0 };
  const found = await findOffset(db, countedRwas(companyId, filter), page.offset);
  if (found === undefined) return undefined;
  const { createdMicros, id } = endsOf('rwas', found.shift, found.bucket).first;
  return {
    from: (range) =>
      range.whereRaw(`(created_at, id) >= (${momentSql}, ?::uuid)`, [String(createdMicros), id]),
    skipped: found.skipped,
  };
}

/** How many of the company's RWAs the filter selects. */
export function countRwas(db: Database, companyId: string, filter: RwaFilter): Promise<number> {
  return countRows(db, countedRwas(companyId, filter));
}

// As migrations 0039 and 0041 have it: a facet is two flags with the type, or without; of an archived RWA, behind an `a`.
function countedRwas(companyId: string, filter: RwaFilter): CountedRows {
  const { type, isBuyable, isClaimable, includeArchived } = filter;
  const flags = (wanted: boolean | undefined) => flagsOf(wanted).map(Number);
  const listed = flags(isBuyable).flatMap((buyable) =>
    flags(isClaimable).map((claimable) => `${buyable}${claimable}${type === undefined ? '' : `:${type}`}`),
  );
  const facets = includeArchived ? [...listed, ...listed.map((facet) => `a${facet}`)] : listed;
  return { list: 'rwas', companyId, facets };
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
