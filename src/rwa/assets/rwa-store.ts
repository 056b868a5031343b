import type { Knex } from 'knex';
import type { Database, Tx } from '../../contract/transaction.ts';
import { prepared, preparedQuery } from '../../db/connection/prepared.ts';
import { microsSql, momentSql } from '../../db/schema/moment-sql.ts';
import {
  detailColumns,
  type Rwa,
  type RwaDetail,
  type RwaDetailRow,
  type RwaRow,
  rwaColumns,
  toRwa,
  toRwaDetail,
} from './rwa-row.ts';

/*
 * RWAs as their companies see them: every query names the company.
 */

const table = 'rwas as r';

export type RwaFilter = {
  readonly type?: string | undefined;
  readonly isBuyable?: boolean | undefined;
  readonly isClaimable?: boolean | undefined;
  /** True: also archived RWAs. */
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
  const places = matching(db, companyId, filter)
    .select('id')
    .orderBy(['created_at', 'id'])
    .limit(page.limit)
    .offset(page.after === undefined ? page.offset : 0);
  if (page.after !== undefined)
    places.whereRaw(`(created_at, id) > (${momentSql}, ?::uuid)`, [
      String(page.after.createdMicros),
      page.after.id,
    ]);
  // The index has what the order and the filters need, so rows that an offset skips are not read.
  const query = db(table)
    .where('r.company_id', companyId)
    .whereIn('r.id', places)
    .orderBy(['r.created_at', 'r.id']);
  const rows = await preparedQuery<RwaRow & { created_micros: string }>(
    db,
    withClaimBase(db, query, rwaColumns).select(db.raw(`${microsSql('r.created_at')} AS created_micros`)),
  );
  return rows.map((row) => ({
    ...toRwa(row),
    place: { createdMicros: BigInt(row.created_micros), id: row.id },
  }));
}

/** How many of the company's RWAs the filter selects. */
export async function countRwas(db: Database, companyId: string, filter: RwaFilter): Promise<number> {
  const [row] = await preparedQuery<{ count: string }>(db, matching(db, companyId, filter).count());
  return Number(row?.count ?? 0);
}

/** A new filter needs a line here, and its column in the index `rwas_in_order`, so that neither totals nor offsets read rows. */
function matching(db: Database, companyId: string, filter: RwaFilter): Knex.QueryBuilder {
  const { type, isBuyable, isClaimable, includeArchived = false } = filter;
  const query = db('rwas').where('company_id', companyId);
  if (type !== undefined) query.where({ type });
  if (isBuyable !== undefined) query.where('is_buyable', isBuyable);
  if (isClaimable !== undefined) query.where('is_claimable', isClaimable);
  if (!includeArchived) query.whereNull('archived_at');
  return query;
}

const findSql = `
  SELECT ${detailColumns.join(', ')}, coalesce(r.claim_base_url, c.claim_base_url) AS claim_base
  FROM ${table} JOIN companies c ON c.id = r.company_id WHERE r.company_id = $1 AND r.id = $2`;

/** The company's RWA; undefined when the company has no such RWA. */
export async function findRwa(db: Database, companyId: string, id: string): Promise<RwaDetail | undefined> {
  const { rows } = await prepared<RwaDetailRow>(db, 'find_rwa', findSql, [companyId, id]);
  return rows.map(toRwaDetail)[0];
}

/** Locks the company's RWA for a change, until the transaction ends. @returns undefined when the company has no such RWA */
export async function lockRwa(tx: Tx, companyId: string, id: string): Promise<RwaDetail | undefined> {
  const sql = `${findSql} FOR NO KEY UPDATE OF r`;
  const { rows } = await prepared<RwaDetailRow>(tx, 'lock_rwa', sql, [companyId, id]);
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
  const rows: RwaRow[] = await withClaimBase(db, query, rwaColumns);
  return rows.map(toRwa);
}

/** Selects the columns and the address of the claim page, which an RWA inherits from its company. */
export function withClaimBase(db: Database, query: Knex.QueryBuilder, selected: readonly string[]) {
  return query
    .join('companies as c', 'c.id', 'r.company_id')
    .select(...selected)
    .select({ claim_base: db.raw('coalesce(r.claim_base_url, c.claim_base_url)') });
}
