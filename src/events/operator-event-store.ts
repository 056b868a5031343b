import type { Database } from '../contract/transaction.ts';

/** What commands need of an event. */
export type OperatorEvent = {
  readonly id: string;
  readonly companyId: string;
  readonly name: string;
  readonly endDate: Date | null;
};

type Row = { id: string; company_id: string; name: string; end_date: Date | null };

/** Finds an event of any company, for an operator. @returns undefined when there is no such event */
export async function findOperatorEvent(db: Database, id: string): Promise<OperatorEvent | undefined> {
  const row: Row | undefined = await db('events').where({ id }).first('id', 'company_id', 'name', 'end_date');
  return row && { id: row.id, companyId: row.company_id, name: row.name, endDate: row.end_date };
}
