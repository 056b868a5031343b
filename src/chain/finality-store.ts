import type { Database } from '../contract/transaction.ts';

/*
 * Table `network_finality`: the newest block of each network that nodes have agreed to be final.
 */

export type FinalBlock = { readonly number: bigint; readonly hash: string };

/** Finds the newest block that was agreed to be final; undefined when none was. */
export async function findFinalBlock(db: Database, chainId: string): Promise<FinalBlock | undefined> {
  const row: { number: string; hash: string } | undefined = await db('network_finality')
    .where({ chain_id: chainId })
    .first('number', 'hash');
  return row && { number: BigInt(row.number), hash: row.hash };
}

/** Stores a block that is final, unless a newer block is stored. */
export async function saveFinalBlock(
  db: Database,
  chainId: string,
  { number, hash }: FinalBlock,
): Promise<void> {
  await db.raw(
    `INSERT INTO network_finality AS f (chain_id, number, hash) VALUES (:chainId, :number, :hash)
     ON CONFLICT (chain_id) DO UPDATE SET number = excluded.number, hash = excluded.hash, agreed_at = clock_timestamp()
     WHERE f.number < excluded.number`,
    { chainId, number: number.toString(), hash },
  );
}
