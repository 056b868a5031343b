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

/** What is needed to check a secret, and never shown. */
type ClaimProof = {
  readonly id: string;
  readonly companyId: string;
  readonly sealed: SealedSecret;
  /** Whether its RWA lets the holders of secrets claim. */
  readonly isOpen: boolean;
};

type ProofRow = {
  id: string;
  company_id: string;
  secret_cipher: Buffer;
  secret_key_id: string;
  claim_page: boolean;
};

const proofSql = `
  SELECT n.id, n.company_id, n.secret_cipher, n.secret_key_id, r.claim_page
  FROM nfts n JOIN rwas r ON r.id = n.rwa_id AND r.company_id = n.company_id WHERE n.id = $1`;

/**
 * Finds what a secret for an NFT is checked by. It belongs to no caller, so no company is named. It reads no more than
 * that, so that its time shows little of whether there is such an NFT.
 */
export async function findClaimProof(db: Database, nftId: string): Promise<ClaimProof | undefined> {
  const { rows } = await prepared<ProofRow>(db, 'claim_proof', proofSql, [nftId]);
  return rows.map((row) => ({
    id: row.id,
    companyId: row.company_id,
    sealed: { cipher: row.secret_cipher, keyId: row.secret_key_id },
    isOpen: row.claim_page,
  }))[0];
}

type Row = {
  id: string;
  company_name: string | null;
  serial: string;
  token_id: string;
  mint_state: MintState;
  mint_error: string | null;
  mint_reason: string | null;
  recipient: string | null;
  minted_at: Date | null;
  minted_tx: string | null;
  name: string;
  description: string | null;
  type: string;
  image_url: string | null;
  chain_id: string;
  contract_address: string;
  network_name: string;
  explorer_url: string | null;
  is_open: boolean;
};

const findSql = `
  SELECT n.id, n.serial, n.token_id, n.mint_state, n.mint_error,
    ${nftReasonSql('n')} AS mint_reason, n.recipient, n.minted_at, n.minted_tx,
    r.name, r.description, r.type, r.image_url, r.chain_id, r.contract_address,
    w.name AS network_name, w.explorer_url, c.display_name AS company_name,
    r.archived_at IS NULL AND r.is_claimable AND ${isSupportedSql} AND ${contractFaultSql} IS NULL AS is_open
  FROM nfts n JOIN rwas r ON r.id = n.rwa_id AND r.company_id = n.company_id AND r.claim_page
    JOIN networks w ON w.chain_id = r.chain_id JOIN companies c ON c.id = n.company_id
  WHERE n.id = $1`;

/**
 * Reads an NFT of an RWA that lets the holders of secrets claim. It belongs to no caller, so no company is named: what it
 * gives may be shown only once the secret is checked.
 * @returns undefined when there is none, or its RWA no longer lets them
 */
export async function findHolderClaim(db: Database, nftId: string): Promise<HolderClaim | undefined> {
  const { rows } = await prepared<Row>(db, 'holder_claim', findSql, [nftId]);
  return rows.map(toClaim)[0];
}

const toClaim = (row: Row): HolderClaim => ({
  nftId: row.id,
  companyName: row.company_name,
  serial: BigInt(row.serial),
  tokenId: row.token_id,
  name: row.name,
  description: row.description,
  type: row.type,
  imageUrl: row.image_url,
  chainId: row.chain_id,
  networkName: row.network_name,
  explorerUrl: row.explorer_url,
  contractAddress: row.contract_address,
  isOpen: row.is_open,
  mintState: row.mint_state,
  mintError: row.mint_error,
  mintReason: row.mint_reason,
  recipient: row.recipient,
  mintedAt: row.minted_at,
  mintedTx: row.minted_tx,
});
