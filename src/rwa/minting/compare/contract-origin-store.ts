import type { Database } from '../../../contract/transaction.ts';

/*
 * Table `mint_contract_origins`: the block in which a contract was created. No event of the contract is older.
 */

export type ContractOrigin = { readonly number: bigint; readonly hash: string };

/** @param contract EIP-55 */
export async function findContractOrigin(
  db: Database,
  chainId: string,
  contract: string,
): Promise<ContractOrigin | undefined> {
  const row: { first_block: string; block_hash: string } | undefined = await db('mint_contract_origins')
    .where({ chain_id: chainId, contract })
    .first('first_block', 'block_hash');
  return row && { number: BigInt(row.first_block), hash: row.block_hash };
}

/** Stores an origin in place of an earlier one. */
export async function saveContractOrigin(
  db: Database,
  chainId: string,
  contract: string,
  { number, hash }: ContractOrigin,
): Promise<void> {
  await db('mint_contract_origins')
    .insert({ chain_id: chainId, contract, first_block: number.toString(), block_hash: hash })
    .onConflict(['chain_id', 'contract'])
    .merge();
}
