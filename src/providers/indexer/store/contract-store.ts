import type { Database } from '../../../contract/transaction.ts';
import { bytes, hex } from './bulk-store.ts';

/** The token contracts that the index has seen, and what they say of themselves. */
const table = 'token_contracts';

/** Null where the contract does not say it, or says nothing sensible. */
export type ContractText = {
  readonly name: string | null;
  readonly symbol: string | null;
  readonly decimals: number | null;
};

export type KnownContract = ContractText & { readonly contract: string; readonly standard: 20 | 721 | 1155 };

type Row = Omit<KnownContract, 'contract'> & { readonly contract: Buffer };

/** The known ones among these contracts, in no particular order. */
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

/** Contracts whose texts were never read. */
export async function listUnreadContracts(
  db: Database,
  chainId: string,
  limit: number,
): Promise<Pick<KnownContract, 'contract' | 'standard'>[]> {
  const rows: Row[] = await db(table)
    .where('chain_id', chainId)
    .whereNull('read_at')
    .limit(limit)
    .select('contract', 'standard');
  return rows.map(({ contract, standard }) => ({ contract: hex(contract), standard }));
}

/** Stores the texts of contracts and marks them as read. */
export async function saveContractTexts(
  db: Database,
  chainId: string,
  read: readonly (ContractText & { readonly contract: string })[],
): Promise<void> {
  await db.raw(
    `UPDATE token_contracts t SET name = r.name, symbol = r.symbol, decimals = r.decimals, read_at = now()
     FROM json_to_recordset(?) AS r (contract bytea, name text, symbol text, decimals smallint)
     WHERE t.chain_id = ? AND t.contract = r.contract`,
    [JSON.stringify(read.map((text) => ({ ...text, contract: bytes(text.contract) }))), chainId],
  );
}
