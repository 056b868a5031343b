import type { Database } from '../../contract/transaction.ts';
import { stateOfRow } from './mint-state-sql.ts';
import type { PublicAttribute } from './nft-row.ts';
import { rwaNumberOf } from './token-id.ts';

/** What the public may know of a minted token. */
type Token = {
  readonly serial: bigint;
  readonly chainId: string;
  readonly contractAddress: string;
  readonly name: string;
  readonly description: string | null;
  readonly type: string;
  /** Of the NFT, else of its RWA. */
  readonly imageUrl: string | null;
  /** Public properties of the NFT. */
  readonly attributes: readonly PublicAttribute[];
  /** What customers read as the name of its company; null when unset. */
  readonly companyName: string | null;
};

type TokenRow = {
  serial: string;
  chain_id: string;
  contract_address: string;
  name: string;
  description: string | null;
  type: string;
  image_url: string | null;
  attributes: PublicAttribute[] | null;
  company_name: string | null;
};

/** The token, if it is minted. It belongs to no caller, so no company is named. */
export async function findMintedToken(db: Database, tokenId: string): Promise<Token | undefined> {
  const rwaNumber = rwaNumberOf(tokenId);
  if (rwaNumber === undefined) return undefined;
  const rows: TokenRow[] = await db('rwas as r')
    .join('nfts as n', { 'n.rwa_id': 'r.id' })
    .join('companies as c', { 'c.id': 'r.company_id' })
    .select(
      'n.serial',
      'r.chain_id',
      'r.contract_address',
      'r.name',
      'r.description',
      'r.type',
      'n.attributes',
    )
    .select({ company_name: 'c.display_name', image_url: db.raw('coalesce(n.image_url, r.image_url)') })
    .where({ 'r.number': rwaNumber.toString(), 'n.token_id': tokenId })
    .whereRaw(`${stateOfRow('n')} = 'minted'`);
  return rows.map(toToken)[0];
}

const toToken = (row: TokenRow): Token => ({
  serial: BigInt(row.serial),
  chainId: row.chain_id,
  contractAddress: row.contract_address,
  name: row.name,
  description: row.description,
  type: row.type,
  imageUrl: row.image_url,
  attributes: row.attributes ?? [],
  companyName: row.company_name,
});
