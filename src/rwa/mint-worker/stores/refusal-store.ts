import type { Database } from '../../../contract/transaction.ts';
import { stateOfRow } from '../../assets/mint-state-sql.ts';
import type { NextMint } from './queued-nft-store.ts';

/*
 * Table `mint_refusals`: NFTs whose recipient their contract has rejected. They wait until the contract is asked again. Rows of
 * NFTs that do not wait are from releases up to 0.2.0.
 */

/** @property refusedAt the newest block then */
export type RefusedMint = NextMint & { readonly refusedAt: bigint };

// Beyond it each poll asks about a rejected NFT again, until the first NFTs are done.
const mostListed = 10_000;

/** Lists the queued NFTs of a network whose recipient was rejected, the first rejected NFT first. */
export async function listRefusedMints(db: Database, chainId: string): Promise<RefusedMint[]> {
  const { rows }: { rows: (NextMint & { refusedAt: string })[] } = await db.raw(
    `SELECT n.id AS "nftId", n.token_id AS "tokenId", n.recipient, n.company_id AS "companyId", r.contract,
       r.refused_at AS "refusedAt"
     FROM mint_refusals r JOIN nfts n ON n.id = r.nft_id AND n.recipient = r.recipient AND n.mint_contract = r.contract
     WHERE r.chain_id = ? AND r.is_waiting AND ${stateOfRow('n')} = 'queued'
     ORDER BY r.refused_at, r.nft_id LIMIT ${mostListed}`,
    [chainId],
  );
  return rows.map((row) => ({ ...row, refusedAt: BigInt(row.refusedAt) }));
}

/**
 * Lets an NFT wait whose recipient the contract has rejected. An NFT that waits already does not wait longer.
 * @param block the newest block
 */
export async function noteRefused(
  db: Database,
  chainId: string,
  { contract, nftId, recipient }: NextMint,
  block: bigint,
): Promise<void> {
  await db.raw(
    `INSERT INTO mint_refusals AS r (nft_id, chain_id, contract, recipient, refused_at)
     VALUES (:nftId, :chainId, :contract, :recipient, :block)
     ON CONFLICT (nft_id) DO UPDATE SET chain_id = excluded.chain_id, contract = excluded.contract,
       recipient = excluded.recipient, refused_at = excluded.refused_at, is_waiting = true
     WHERE NOT r.is_waiting OR (r.contract, r.recipient) <> (excluded.contract, excluded.recipient)`,
    { nftId, chainId, contract, recipient, block: block.toString() },
  );
}

/** Forgets that the recipient of an NFT was rejected. */
export async function endRefused(db: Database, nftId: string): Promise<void> {
  await db('mint_refusals').where({ nft_id: nftId }).delete();
}
