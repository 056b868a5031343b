import type { Database } from '../../../../contract/transaction.ts';
import type { ContractText } from '../../decode/domain.ts';
import { bytes, hex } from '../rows/bulk-store.ts';
import { mostTries, restAfter } from './rests.ts';

/** The token contracts that the index has seen, and what they report of themselves. */
const table = 'token_contracts';

export type KnownContract = ContractText & { readonly contract: string; readonly standard: 20 | 721 | 1155 };

type Row = Omit<KnownContract, 'contract'> & { readonly contract: Buffer };

/** The result of a read of a contract. */
type ReadContract = ContractText & { readonly contract: string; readonly isAnswered: boolean };

/** Returns the known contracts among these, in no particular order. */
export async function findContracts(
  db: Database,
  chainId: string,
  contracts: readonly string[],
): Promise<KnownContract[]> {
  if (contracts.length === 0) return [];
  const { rows } = await db.raw<{ rows: Row[] }>(
    `SELECT contract, standard, name, symbol, decimals FROM token_contracts
     WHERE chain_id = ? AND contract = ANY (string_to_array(?, ',')::bytea[])`,
    [chainId, contracts.map(bytes).join(',')],
  );
  return rows.map((row) => ({ ...row, contract: hex(row.contract) }));
}

/** Returns contracts whose texts were never read and that do not wait after a failed try. */
export async function listUnreadContracts(
  db: Database,
  chainId: string,
  limit: number,
): Promise<Pick<KnownContract, 'contract' | 'standard'>[]> {
  const rows: Row[] = await db(table)
    .where('chain_id', chainId)
    .whereNull('read_at')
    .where('read_due', '<=', db.fn.now())
    .orderBy('read_due')
    .limit(limit)
    .select('contract', 'standard');
  return rows.map(({ contract, standard }) => ({ contract: hex(contract), standard }));
}

/**
 * Stores the texts of contracts and marks them as read. A contract of which nodes did not answer everything is read
 * again after a rest, a few times.
 */
export async function saveContractTexts(
  db: Database,
  chainId: string,
  read: readonly ReadContract[],
): Promise<void> {
  await db.raw(
    `UPDATE token_contracts t SET name = r.name, symbol = r.symbol, decimals = r.decimals,
       read_tries = t.read_tries + 1, read_due = now() + ${restAfter('t.read_tries')},
       read_at = CASE WHEN r.answered OR t.read_tries + 1 >= ${mostTries} THEN now() END
     FROM json_to_recordset(?) AS r (contract bytea, name text, symbol text, decimals smallint, answered boolean)
     WHERE t.chain_id = ? AND t.contract = r.contract`,
    [
      JSON.stringify(
        read.map(({ contract, isAnswered, ...text }) => ({
          ...text,
          contract: bytes(contract),
          answered: isAnswered,
        })),
      ),
      chainId,
    ],
  );
}
