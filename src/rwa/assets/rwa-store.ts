import type { Knex } from 'knex';
import type { Tx } from '../../contract/transaction.ts';
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

type RwaFilter = {
  readonly type?: string | undefined;
  readonly isBuyable?: boolean | undefined;
  readonly isClaimable?: boolean | undefined;
};

export type Page = { readonly limit: number; readonly offset: number };

export type RwaStore = {
  list(companyId: string, filter: RwaFilter, page: Page): Promise<Rwa[]>;
  count(companyId: string, filter: RwaFilter): Promise<number>;
  find(companyId: string, id: string): Promise<RwaDetail | undefined>;
  findByNumbers(companyId: string, numbers: readonly bigint[]): Promise<Rwa[]>;
  /**
   * Takes the next `count` serials and counts their NFTs. The row stays locked until the transaction ends,
   * so a rollback gives the serials back and leaves no gap.
   * @returns the RWA and its first new serial; undefined when the company has no such RWA
   */
  takeSerials(
    tx: Tx,
    companyId: string,
    id: string,
    count: number,
  ): Promise<{ rwa: Rwa; firstSerial: bigint } | undefined>;
};

/** RWAs as their companies see them: every query names the company. */
export function createRwaStore({ db }: { readonly db: Knex }): RwaStore {
  const matching = (companyId: string, filter: RwaFilter) => {
    const query = db('rwas as r').where('r.company_id', companyId);
    if (filter.type !== undefined) query.where('r.type', filter.type);
    if (filter.isBuyable !== undefined) query.where('r.is_buyable', filter.isBuyable);
    if (filter.isClaimable !== undefined) query.where('r.is_claimable', filter.isClaimable);
    return query;
  };

  return {
    async list(companyId, filter, { limit, offset }) {
      const query = matching(companyId, filter).orderBy(['r.created_at', 'r.id']).limit(limit).offset(offset);
      const rows: RwaRow[] = await withClaimBase(db, query, columns);
      return rows.map(toRwa);
    },
    async count(companyId, filter) {
      const rows: { count: string }[] = await matching(companyId, filter).count();
      return Number(rows[0]?.count ?? 0);
    },
    async find(companyId, id) {
      const query = db('rwas as r').where({ 'r.company_id': companyId, 'r.id': id });
      const rows: RwaDetailRow[] = await withClaimBase(db, query, detailColumns);
      return rows.map(toRwaDetail)[0];
    },
    async findByNumbers(companyId, numbers) {
      const query = db('rwas as r')
        .where('r.company_id', companyId)
        .whereRaw('r.number = ANY (?::bigint[])', [numbers.map(String)]);
      const rows: RwaRow[] = await withClaimBase(db, query, columns);
      return rows.map(toRwa);
    },
    takeSerials,
  };
}

async function takeSerials(tx: Tx, companyId: string, id: string, count: number) {
  const { rows }: { rows: (RwaRow & { last_serial: string })[] } = await tx.raw(
    `UPDATE rwas r SET last_serial = r.last_serial + :count, total_nfts = r.total_nfts + :count
     FROM companies c
     WHERE c.id = r.company_id AND r.company_id = :companyId AND r.id = :id
     RETURNING ${columns.join(', ')}, r.last_serial, coalesce(r.claim_base_url, c.claim_base_url) AS claim_base_url`,
    { companyId, id, count },
  );
  return rows.map((row) => ({
    rwa: toRwa(row),
    firstSerial: BigInt(row.last_serial) - BigInt(count) + 1n,
  }))[0];
}

/** Selects the columns and the address of the claim page, which an RWA inherits from its company. */
export function withClaimBase(db: Knex, query: Knex.QueryBuilder, selected: readonly string[]) {
  return query
    .join('companies as c', 'c.id', 'r.company_id')
    .select(...selected)
    .select({ claim_base_url: db.raw('coalesce(r.claim_base_url, c.claim_base_url)') });
}
