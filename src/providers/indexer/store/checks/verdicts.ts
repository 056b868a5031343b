import type { Database } from '../../../../contract/transaction.ts';
import { type MoveVerdict, readVerdicts } from '../../classify/stored-moves.ts';
import type { Erc20Movement, IndexedBlock, NftMovement } from '../../decode/domain.ts';

/** Results by the index of their log in the block. */
export type Verdicts = ReadonlyMap<number, MoveVerdict>;

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

type Moved = { readonly erc20: readonly Erc20Movement[]; readonly nft: readonly NftMovement[] };

/** Returns the movements with what is known of them now. */
export function verified<Movements extends Moved>(movements: Movements, verdicts: Verdicts): Movements {
  const mark = <Movement extends { readonly logIndex: number }>(movement: Movement) => {
    const verdict = verdicts.get(movement.logIndex);
    return verdict === undefined ? movement : { ...movement, ...verdict };
  };
  return { ...movements, erc20: movements.erc20.map(mark), nft: movements.nft.map(mark) };
}

export function withVerdicts(block: IndexedBlock, verdicts: Verdicts): IndexedBlock {
  return { ...block, transactions: block.transactions.map((transaction) => verified(transaction, verdicts)) };
}
