import type { Knex } from 'knex';
import type { Database } from '../../contract/transaction.ts';
import { prepared } from '../../db/prepared.ts';
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
};

export type Page = { readonly limit: number; readonly offset: number };

/** A page of the company's RWAs that the filter selects, ordered by creation, then id. */
export async function listRwas(
  db: Database,
  companyId: string,
  filter: RwaFilter,
  { limit, offset }: Page,
): Promise<Rwa[]> {
  const query = matching(db, companyId, filter).orderBy(['r.created_at', 'r.id']).limit(limit).offset(offset);
  const rows: RwaRow[] = await withClaimBase(db, query, columns);
  return rows.map(toRwa);
}

/** How many of the company's RWAs the filter selects. */
export async function countRwas(db: Database, companyId: string, filter: RwaFilter): Promise<number> {
  const rows: { count: string }[] = await matching(db, companyId, filter).count();
  return Number(rows[0]?.count ?? 0);
}

function matching(db: Database, companyId: string, filter: RwaFilter): Knex.QueryBuilder {
  const query = db(table).where('r.company_id', companyId);
  if (filter.type !== undefined) query.where('r.type', filter.type);
  if (filter.isBuyable !== undefined) query.where('r.is_buyable', filter.isBuyable);
  if (filter.isClaimable !== undefined) query.where('r.is_claimable', filter.isClaimable);
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
