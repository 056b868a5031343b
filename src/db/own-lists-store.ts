import type { Database } from '../contract/transaction.ts';
import { isOwnSql } from './own-lists.ts';
import { prepared } from './prepared.ts';

const findSql = `SELECT FROM list_splits o WHERE ${isOwnSql('$1', '$2::bigint', 'o')}`;

/** Whether the changes of an RWA's NFTs are counted in a list of its own. */
export async function hasOwnList(db: Database, companyId: string, rwaNumber: bigint): Promise<boolean> {
  const { rowCount } = await prepared(db, 'has_own_list', findSql, [companyId, String(rwaNumber)]);
  return rowCount > 0;
}
