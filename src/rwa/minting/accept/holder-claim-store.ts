import type { Database } from '../../../contract/transaction.ts';
import { prepared } from '../../../db/connection/prepared.ts';
import type { SealedSecret } from '../../assets/claim-secret.ts';
import type { MintState } from '../../assets/nft-row.ts';
import { nftReasonSql } from '../../assets/reason-sql.ts';
import { contractFaultSql, isSupportedSql } from './eligibility-store.ts';

/** An NFT with its asset and network, as the holder of its secret may see it. */
export type HolderClaim = {
  readonly nftId: string;
  /** What customers read as the name of the company; null when unset. */
  readonly companyName: string | null;
  readonly serial: bigint;
  /** Decimal. */
  readonly tokenId: string;
  readonly name: string;
  readonly description: string | null;
  readonly type: string;
  readonly imageUrl: string | null;
  /** Decimal. */
  readonly chainId: string;
  readonly networkName: string;
  /** Of the network's block explorer, without a slash at its end. */
  readonly explorerUrl: string | null;
  /** EIP-55. */
  readonly contractAddress: string;
  /** Whether the RWA can be claimed and its network mints on its contract. */
  readonly isOpen: boolean;
  readonly mintState: MintState;
  readonly mintError: string | null;
  /** Why an accepted mint does not move: a code; null while it does. */
  readonly mintReason: string | null;
  /** EIP-55. */
  readonly recipient: string | null;
  readonly mintedAt: Date | null;
  readonly mintedTx: string | null;
};

/** The columns that a check of a secret needs, and that no answer shows. */
type ClaimProof = {
  readonly id: string;
  readonly companyId: string;
  readonly sealed: SealedSecret;
  /** Whether its RWA lets the holders of secrets claim. */
  readonly isOpen: boolean;
};

const proofSql = `
  SELECT n.id, n.company_id AS "companyId", n.secret_cipher AS cipher, n.secret_key_id AS "keyId", r.claim_page AS "isOpen"
  FROM nfts n JOIN rwas r ON r.id = n.rwa_id AND r.company_id = n.company_id WHERE n.id = $1`;

/**
 * Finds what a secret for an NFT is checked by. It belongs to no caller, so no company is named. It reads no more than
 * that, so that its time shows little of whether there is such an NFT.
 */
export async function findClaimProof(db: Database, nftId: string): Promise<ClaimProof | undefined> {
  const { rows } = await prepared<Omit<ClaimProof, 'sealed'> & SealedSecret>(db, 'claim_proof', proofSql, [
    nftId,
  ]);
  return rows.map(({ cipher, keyId, ...proof }) => ({ ...proof, sealed: { cipher, keyId } }))[0];
}

const findSql = `
  SELECT n.id AS "nftId", c.display_name AS "companyName", n.serial, n.token_id AS "tokenId", r.name, r.description, r.type,
    r.image_url AS "imageUrl", r.chain_id AS "chainId", w.name AS "networkName", w.explorer_url AS "explorerUrl",
    r.contract_address AS "contractAddress",
    r.archived_at IS NULL AND r.is_claimable AND ${isSupportedSql} AND ${contractFaultSql} IS NULL AS "isOpen",
    n.mint_state AS "mintState", n.mint_error AS "mintError", ${nftReasonSql('n')} AS "mintReason", n.recipient,
    n.minted_at AS "mintedAt", n.minted_tx AS "mintedTx"
  FROM nfts n JOIN rwas r ON r.id = n.rwa_id AND r.company_id = n.company_id AND r.claim_page
    JOIN networks w ON w.chain_id = r.chain_id JOIN companies c ON c.id = n.company_id
  WHERE n.id = $1`;

/**
 * Reads an NFT of an RWA that lets the holders of secrets claim. It belongs to no caller, so no company is named: what it
 * gives may be shown only once the secret is checked.
 * @returns undefined when there is none, or its RWA no longer lets them
 */
export async function findHolderClaim(db: Database, nftId: string): Promise<HolderClaim | undefined> {
  const { rows } = await prepared<Omit<HolderClaim, 'serial'> & { readonly serial: string }>(
    db,
    'holder_claim',
    findSql,
    [nftId],
  );
  return rows.map((row) => ({ ...row, serial: BigInt(row.serial) }))[0];
}
