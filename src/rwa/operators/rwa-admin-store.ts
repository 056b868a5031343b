import { problem } from '../../base/errors.ts';
import { isChainId } from '../../chain/rpc/client/network.ts';
import type { Database } from '../../contract/transaction.ts';
import { insertRwa } from '../assets/rwa-change-store.ts';
import type { RwaInput } from '../assets/rwa-input.ts';
import { detailColumns, type RwaDetail, type RwaDetailRow, toRwaDetail } from '../assets/rwa-row.ts';
import { withClaimBase } from '../assets/rwa-store.ts';

/*
 * RWAs as operators see and make them: over all companies.
 */

export type OperatorRwa = RwaDetail & { readonly companyName: string };

type OperatorRow = RwaDetailRow & { company_name: string };

const toOperatorRwa = (row: OperatorRow): OperatorRwa => ({
  ...toRwaDetail(row),
  companyName: row.company_name,
});

const selectOperatorRwas = (db: Database) =>
  withClaimBase(db, db('rwas as r'), detailColumns).select({ company_name: 'c.name' });

/**
 * Creates an RWA of a company.
 * @throws problem `network_not_found` when the network is not registered; Error when the company is unknown
 */
export async function createRwa(db: Database, companyId: string, input: RwaInput): Promise<OperatorRwa> {
  await assertRegistered(db, input.chainId);
  const company: unknown = await db('companies').where({ id: companyId }).first('id');
  if (company === undefined) throw new Error(`Company ${companyId} not found`);
  const created = await findOperatorRwa(db, await insertRwa(db, companyId, input));
  if (created === undefined) throw new Error('The new RWA cannot be read back.');
  return created;
}

async function assertRegistered(db: Database, chainId: string): Promise<void> {
  const network: unknown = isChainId(chainId)
    ? await db('networks').where({ chain_id: chainId }).first('chain_id')
    : undefined;
  if (network === undefined) throw problem('network_not_found', { chainId });
}

type OperatorFilter = {
  /** Without it, the RWAs of all companies. */
  readonly companyId?: string;
  /** Also archived RWAs. */
  readonly includeArchived?: boolean;
  /** Id of an RWA: only RWAs that come after it. */
  readonly after?: string | undefined;
  readonly limit?: number;
  readonly offset?: number;
};

/** Lists RWAs of one company or of all, in the order of their creation: all by their numbers, which an index has in order. */
export async function listOperatorRwas(
  db: Database,
  { companyId, includeArchived = false, after, limit = 1_000, offset = 0 }: OperatorFilter = {},
): Promise<OperatorRwa[]> {
  const query = selectOperatorRwas(db).limit(limit).offset(offset);
  const order = companyId === undefined ? byNumber : byTime;
  query.orderBy([...order.columns]);
  if (after !== undefined) query.whereRaw(order.after, { after });
  if (companyId !== undefined) query.where('r.company_id', companyId);
  if (!includeArchived) query.whereNull('r.archived_at');
  const rows: OperatorRow[] = await query;
  return rows.map(toOperatorRwa);
}

const byNumber = {
  columns: ['r.number'],
  after: 'r.number > (SELECT number FROM rwas WHERE id = :after)',
} as const;
// Of one company, as its indexes have them. The time is asked for in the database: a Date has no microseconds.
const byTime = {
  columns: ['r.created_at', 'r.id'],
  after: '(r.created_at, r.id) > ((SELECT created_at FROM rwas WHERE id = :after), :after::uuid)',
} as const;

/** Finds an RWA of any company. @returns undefined when there is none with this id */
export async function findOperatorRwa(db: Database, id: string): Promise<OperatorRwa | undefined> {
  const rows: OperatorRow[] = await selectOperatorRwas(db).where('r.id', id);
  return rows.map(toOperatorRwa)[0];
}
