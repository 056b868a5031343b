import type { Database, Tx } from '../../../contract/transaction.ts';
import { stateOfRow } from '../../assets/mint-state-sql.ts';
import type { NextMint } from './queued-nft-store.ts';

/*
 * Table `mint_refusals`: NFTs whose recipient their contract has rejected. They wait until the contract is asked again. The
 * row stays when its NFT has failed, so that the lane asks alone about others for the same recipient. It is deleted once the
 * contract accepts the recipient.
 */

type ContractId = { readonly chainId: string; readonly contract: string };

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

const insert = `INSERT INTO mint_refusals AS r (nft_id, chain_id, contract, recipient, refused_at)
  SELECT n.id, :chainId, :contract, n.recipient, :block FROM nfts n WHERE n.id = ANY (:nftIds::uuid[])`;
// The foreign key would wait for a locked row. An NFT that waits already does not wait longer.
const onConflict = `FOR KEY SHARE OF n SKIP LOCKED ON CONFLICT (nft_id) DO UPDATE SET chain_id = excluded.chain_id, contract = excluded.contract,
  recipient = excluded.recipient, is_waiting = true, refused_at = CASE WHEN r.is_waiting AND r.recipient = excluded.recipient
    AND r.contract = excluded.contract THEN r.refused_at ELSE excluded.refused_at END RETURNING nft_id`;

/**
 * Lets an NFT wait whose recipient the contract has rejected.
 * @param block the newest block
 * @returns false while another transaction has locked the row of the NFT
 */
export async function noteRefused(
  db: Database,
  { chainId, contract, nftId }: ContractId & { readonly nftId: string },
  block: bigint,
): Promise<boolean> {
  const bindings = { chainId, contract, nftIds: [nftId], block: block.toString() };
  const { rows } = await db.raw(`${insert} ${onConflict}`, bindings);
  return rows.length > 0;
}

/** Lets those of the NFTs wait whose recipient the contract has rejected before. @returns their ids */
export async function noteKnownRecipients(
  db: Database,
  { chainId, contract }: ContractId,
  nftIds: readonly string[],
  block: bigint,
): Promise<Set<string>> {
  const { rows }: { rows: { nft_id: string }[] } = await db.raw(
    `${insert} AND EXISTS (SELECT FROM mint_refusals o
       WHERE o.chain_id = :chainId AND o.contract = :contract AND o.recipient = n.recipient) ${onConflict}`,
    { chainId, contract, nftIds: [...nftIds], block: block.toString() },
  );
  return new Set(rows.map(({ nft_id: id }) => id));
}

/** Notes that an NFT has failed since its recipient is still rejected. */
export async function endRefused(tx: Tx, nftId: string): Promise<void> {
  await tx('mint_refusals').where({ nft_id: nftId }).update({ is_waiting: false });
}

/** Forgets that the contract has rejected a recipient. */
export async function forgetRecipient(
  db: Database,
  { chainId, contract, recipient }: ContractId & { readonly recipient: string },
): Promise<void> {
  await db('mint_refusals').where({ chain_id: chainId, contract, recipient }).delete();
}
