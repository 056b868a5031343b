import type { Tx } from '../../../contract/transaction.ts';

/*
 * What mints cost: a mined transaction's cost by its receipt, counted to the day on which it was seen in parts of equal
 * size for each of its NFTs, and taken back when a reorganisation removes it.
 */

const shares = (sign: '' | '-') => `
  INSERT INTO company_gas_days AS d (company_id, chain_id, day, wei)
  SELECT n.company_id, t.chain_id, t.cost_day, ${sign}floor(t.cost * count(*) / sum(count(*)) OVER ())
  FROM mint_transactions t JOIN mint_transaction_nfts l ON l.transaction_id = t.id JOIN nfts n ON n.id = l.nft_id
  WHERE t.id = ? AND t.cost IS NOT NULL GROUP BY n.company_id, t.chain_id, t.cost_day, t.cost ORDER BY n.company_id
  ON CONFLICT (company_id, chain_id, day) DO UPDATE SET wei = d.wei + excluded.wei`;

/** Counts what the transaction cost, in place of what was counted before. @param cost in wei; null in none of its blocks */
export async function setTransactionCost(tx: Tx, id: string, cost: bigint | null): Promise<void> {
  const { rows }: { rows: { cost: string | null }[] } = await tx.raw(
    'SELECT cost FROM mint_transactions WHERE id = ? FOR UPDATE',
    [id],
  );
  const counted = rows[0]?.cost ?? null;
  if (counted === (cost?.toString() ?? null)) return;
  if (counted !== null) await tx.raw(shares('-'), [id]);
  await tx.raw(
    `UPDATE mint_transactions SET cost = :cost,
       cost_day = CASE WHEN :cost::numeric IS NOT NULL THEN (clock_timestamp() AT TIME ZONE 'UTC')::date END
     WHERE id = :id`,
    { id, cost: cost?.toString() ?? null },
  );
  if (cost !== null) await tx.raw(shares(''), [id]);
}
