import type { Database } from '../../../../contract/transaction.ts';
import type { BulkColumns } from '../rows/bulk-store.ts';

/** Whether the index keeps credits and approvals of this block. */
export async function hasLedger(db: Database, chainId: string, block: bigint): Promise<boolean> {
  const { rows } = await db.raw<{ rows: unknown[] }>(
    'SELECT 1 FROM index_state WHERE chain_id = ? AND ledger_from <= ?',
    [chainId, String(block)],
  );
  return rows.length > 0;
}

type ApprovalName = {
  readonly wallet: string;
  readonly contract: string;
  readonly kind: number;
  readonly token_id: string;
};

const key = ['wallet', 'contract', 'kind', 'token_id', 'party'];
const same = (a: string, b: string) => key.map((name) => `${a}.${name} = ${b}.${name}`).join(' AND ');
const newest = (name: string) => `(array_agg(c.${name} ORDER BY c.block_number DESC, c.log_index DESC))[1]`;

/** Returns the approvals that differ from the last of their changes. @param columns of `wallet_approvals` */
export async function findOtherApprovals(
  db: Database,
  chainId: string,
  columns: BulkColumns,
): Promise<ApprovalName[]> {
  const lists = key.map((name) => columns[name]?.values.join(',') ?? '');
  if (lists[0] === '') return [];
  const { rows } = await db.raw<{ rows: ApprovalName[] }>(
    `SELECT s.wallet::text, s.contract::text, s.kind, s.token_id::text
     FROM (SELECT ${key.map((name) => `c.${name}`).join(', ')}, ${newest('spender')} AS spender,
         ${newest('amount')} AS amount, ${newest('granted')} AS granted
       FROM approval_changes c JOIN unnest(string_to_array(?, ',')::bytea[], string_to_array(?, ',')::bytea[],
           string_to_array(?, ',')::smallint[], string_to_array(?, ',')::numeric[],
           string_to_array(?, ',')::bytea[]) AS u (${key.join(', ')}) USING (${key.join(', ')})
       WHERE c.chain_id = ? GROUP BY ${key.map((name) => `c.${name}`).join(', ')}) s
     LEFT JOIN wallet_approvals a ON a.chain_id = ? AND ${same('a', 's')}
     WHERE (a.spender, a.amount, a.granted) IS DISTINCT FROM (s.spender, s.amount, s.granted)`,
    [...lists, chainId, chainId],
  );
  return rows;
}
