import type { Database } from '../../contract/transaction.ts';

/** A transfer of an NFT's token, as it is stored. */
export type StoredTransfer = {
  readonly from: string;
  readonly to: string;
  /** Decimal. */
  readonly block: string;
  readonly blockHash: string;
  readonly time: Date;
  readonly transaction: string;
  readonly logIndex: string;
  readonly isFinal: boolean;
};

/** The place of a transfer in its list. */
type TransferPlace = { readonly block: string; readonly logIndex: string };

const ofNft = `
  FROM nfts n JOIN rwas r ON r.id = n.rwa_id AND r.company_id = n.company_id
  JOIN nft_transfers t ON t.chain_id = r.chain_id AND t.contract = r.contract_address AND t.token_id = n.token_id
  WHERE n.company_id = :companyId AND n.id = :nftId`;

/** Lists the transfers of a company's NFT, the newest first. */
export async function listTransfers(
  db: Database,
  companyId: string,
  nftId: string,
  { limit, after }: { readonly limit: number; readonly after: TransferPlace | undefined },
): Promise<StoredTransfer[]> {
  const { rows } = await db.raw(
    `SELECT t.from_address AS from, t.to_address AS to, t.block_number AS block, t.block_hash AS "blockHash",
       t.block_time AS time, t.transaction_hash AS transaction, t.log_index AS "logIndex",
       coalesce(t.block_number <= (SELECT number FROM network_finality f WHERE f.chain_id = t.chain_id), false) AS "isFinal"
     ${ofNft} AND (:block::numeric IS NULL OR (t.block_number, t.log_index) < (:block::numeric, :logIndex::bigint))
     ORDER BY t.block_number DESC, t.log_index DESC LIMIT :limit`,
    { companyId, nftId, limit, block: after?.block ?? null, logIndex: after?.logIndex ?? null },
  );
  return rows;
}

/** Counts the transfers of a company's NFT. */
export async function countTransfers(db: Database, companyId: string, nftId: string): Promise<number> {
  const { rows }: { rows: { count: number }[] } = await db.raw(`SELECT count(*)::int AS count ${ofNft}`, {
    companyId,
    nftId,
  });
  return rows[0]?.count ?? 0;
}
