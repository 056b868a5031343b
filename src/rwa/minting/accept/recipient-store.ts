import type { Database } from '../../../contract/transaction.ts';
import { prepared } from '../../../db/connection/prepared.ts';

/*
 * Contracts among the addresses that NFTs are to be minted to: of any company's RWAs, also archived RWAs, and of
 * networks. An NFT that is minted to an NFT contract can never leave it.
 */

// A range with an order instead of an equality: so each read is a step in the index of contracts, and never a walk
// through all RWAs, whatever the planner knows of them.
const isContractSql = (address: string) => `EXISTS (
  SELECT FROM networks w LEFT JOIN LATERAL (
    SELECT contract_address FROM rwas r WHERE r.chain_id = w.chain_id AND r.contract_address >= ${address}
    ORDER BY r.contract_address LIMIT 1) next ON true
  WHERE ${address} IN (w.minter_contract, next.contract_address))`;

const findSql = `
  SELECT a.address FROM (
    SELECT unnest($2::text[]) UNION SELECT treasury_address FROM companies WHERE id = $1) AS a (address)
  WHERE ${isContractSql('a.address')}`;

type Asked = {
  /** EIP-55. */
  readonly recipients: readonly string[];
  /** The company whose treasury is in question as well. */
  readonly companyId?: string;
};

/** Finds the NFT contracts among some recipients and a treasury. */
export async function findContractRecipients(
  db: Database,
  { recipients, companyId }: Asked,
): Promise<ReadonlySet<string>> {
  const values = [companyId ?? null, [...new Set(recipients)]];
  const { rows } = await prepared<{ address: string }>(db, 'contract_recipients', findSql, values);
  return new Set(rows.map(({ address }) => address));
}

type Treasury = { readonly companyId: string; readonly companyName: string; readonly address: string };

/** Lists the treasuries to which nothing is minted, by the names of their companies. */
export async function listUnusableTreasuries(db: Database): Promise<Treasury[]> {
  const { rows } = await db.raw<{ rows: Treasury[] }>(
    `SELECT c.id AS "companyId", c.name AS "companyName", c.treasury_address AS address FROM companies c
     WHERE c.treasury_address ~ '^0x0{36}' OR ${isContractSql('c.treasury_address')} ORDER BY c.name`,
  );
  return rows;
}
