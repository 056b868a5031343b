import type { Database } from '../../../../contract/transaction.ts';
import { readVerdicts, type Verdicts, verified } from '../../classify/stored-moves.ts';
import type { IndexedBlock } from '../../decode/domain.ts';

/** Returns the stored results for the transfers of a block. @param wallets in PostgreSQL's hex */
export async function findVerdicts(
  db: Database,
  chainId: string,
  number: bigint,
  wallets: readonly string[],
): Promise<Verdicts> {
  const { rows } = await db.raw<{ rows: { verdicts: unknown }[] }>(
    `SELECT verdicts FROM wallet_history WHERE chain_id = ? AND block_number = ? AND verdicts IS NOT NULL
     AND wallet = ANY (string_to_array(?, ',')::bytea[])`,
    [chainId, String(number), wallets.join(',')],
  );
  return new Map(rows.flatMap(({ verdicts }) => readVerdicts(verdicts)));
}

export function withVerdicts(block: IndexedBlock, verdicts: Verdicts): IndexedBlock {
  return { ...block, transactions: block.transactions.map((transaction) => verified(transaction, verdicts)) };
}
