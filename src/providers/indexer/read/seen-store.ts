import type { Database } from '../../../contract/transaction.ts';
import type { Seen } from '../../shared/provider.ts';
import { bytes } from '../store/rows/bulk-store.ts';
import { creditKinds } from '../store/rows/ledger-rows.ts';

type Row = {
  readonly chain_id: string;
  readonly first_block: string;
  readonly first_time: Date;
  readonly last_block: string;
  readonly last_time: Date;
};

/** The first or last entry of a wallet on a network: of its history, and of each kind of its credits. */
function endOf(order: 'ASC' | 'DESC'): string {
  const own = 'wallet = :wallet::bytea';
  const one = `ORDER BY block_number ${order} LIMIT 1`;
  const columns = 'SELECT block_number, block_time';
  const credits = Object.values(creditKinds)
    .map(
      (kind) =>
        `(${columns} FROM block_credits b WHERE b.chain_id = c.chain_id AND ${own} AND kind = ${kind} ${one})`,
    )
    .join(' UNION ALL ');
  return `SELECT * FROM ((${columns} FROM wallet_history h WHERE h.chain_id = c.chain_id AND ${own} ${one})
    UNION ALL ${credits}) entries ${one}`;
}

/** The statement, without the code that runs it: two ends of a database index for each network. */
export function seenQuery(chainIds: readonly string[], wallet: string) {
  const sql = `SELECT c.chain_id, f.block_number AS first_block, f.block_time AS first_time,
      l.block_number AS last_block, l.block_time AS last_time
    FROM unnest(string_to_array(:chainIds, ',')::bigint[]) c (chain_id)
    CROSS JOIN LATERAL (${endOf('ASC')}) f CROSS JOIN LATERAL (${endOf('DESC')}) l`;
  return { sql, bindings: { chainIds: chainIds.join(), wallet: bytes(wallet) } };
}

/** Where a wallet was seen, by chain id; networks without a record of it are left out. */
export async function findSeen(
  db: Database,
  chainIds: readonly string[],
  wallet: string,
): Promise<ReadonlyMap<string, Seen>> {
  if (chainIds.length === 0) return new Map();
  const { sql, bindings } = seenQuery(chainIds, wallet);
  const { rows } = await db.raw<{ rows: Row[] }>(sql, bindings);
  return new Map(
    rows.map((row) => [
      row.chain_id,
      {
        first: { blockNumber: BigInt(row.first_block), blockTime: row.first_time },
        last: { blockNumber: BigInt(row.last_block), blockTime: row.last_time },
      },
    ]),
  );
}
