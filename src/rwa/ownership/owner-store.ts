import type { Database } from '../../contract/transaction.ts';

/** The place of an NFT among those of a contract. */
export type NftPlaceOfContract = { readonly rwaId: string; readonly tokenId: string };

type NftOwner = NftPlaceOfContract & {
  readonly nftId: string;
  /** As the newest transfer up to the block says; null without one, and after a burn. */
  readonly owner: string | null;
};

/** Lists the NFTs of a contract that are minted up to a block, of all companies, with their owners then. */
export async function listNftOwners(
  db: Database,
  {
    chainId,
    contract,
    block,
  }: { readonly chainId: string; readonly contract: string; readonly block: bigint },
  limit: number,
  after: NftPlaceOfContract | undefined,
): Promise<NftOwner[]> {
  const { rows } = await db.raw(
    `SELECT n.id AS "nftId", n.rwa_id AS "rwaId", n.token_id AS "tokenId",
       nullif(t.to_address, '0x0000000000000000000000000000000000000000') AS owner
     FROM nfts n JOIN rwas r ON r.id = n.rwa_id
     LEFT JOIN LATERAL (
       SELECT to_address FROM nft_transfers t WHERE t.chain_id = :chainId AND t.contract = :contract
         AND t.token_id = n.token_id AND t.block_number <= :block::numeric
       ORDER BY t.block_number DESC, t.log_index DESC LIMIT 1) t ON true
     WHERE r.chain_id = :chainId AND r.contract_address = :contract AND n.mint_state = 'minted'
       AND n.minted_block <= :block::numeric
       AND (:rwaId::uuid IS NULL OR (n.rwa_id, n.token_id) > (:rwaId::uuid, :tokenId::numeric))
     ORDER BY n.rwa_id, n.token_id LIMIT :limit`,
    {
      chainId,
      contract,
      block: block.toString(),
      limit,
      rwaId: after?.rwaId ?? null,
      tokenId: after?.tokenId ?? null,
    },
  );
  return rows;
}
