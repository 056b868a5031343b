import type { Tx } from '../../../contract/transaction.ts';
import { prepared } from '../../../db/connection/prepared.ts';
import type { SealedSecret } from '../../assets/claim-secret.ts';
import type { MintState } from '../../assets/nft-row.ts';

/** What decides whether NFTs of an RWA can be minted. */
export type Eligibility = {
  readonly isArchived: boolean;
  readonly isClaimable: boolean;
  /** Decimal. */
  readonly chainId: string;
  /** EIP-55. */
  readonly contractAddress: string;
  /** The network has a minter contract and a signer, at work or not. */
  readonly isSupported: boolean;
  /** The fault of a contract that is known as unfit, in words; null for any other. */
  readonly contractFault: string | null;
  /** EIP-55. */
  readonly treasury: string | null;
};

/** An NFT whose mint is requested. Its row is locked until the transaction ends. */
export type MintCandidate = Eligibility & {
  readonly id: string;
  readonly state: MintState;
  /** EIP-55. */
  readonly recipient: string | null;
  readonly sealed: SealedSecret;
};

/** Whether the network `w` of the RWA `r` mints; also while nobody is at work who can sign. */
export const isSupportedSql = `(w.minter_contract IS NOT NULL
  AND EXISTS (SELECT FROM mint_lanes l WHERE l.chain_id = r.chain_id))`;

/** The fault of the contract of the RWA `r`; null unless it is known as a contract that does not mint. */
export const contractFaultSql = `(SELECT v.detail FROM contract_verdicts v WHERE v.chain_id = r.chain_id
  AND v.contract = r.contract_address AND v.verdict = 'unfit')`;

// Nothing can be minted to a treasury of zero, from before such treasuries were rejected.
const columns = `r.archived_at IS NOT NULL AS "isArchived", r.is_claimable AS "isClaimable", r.chain_id AS "chainId",
  r.contract_address AS "contractAddress", nullif(c.treasury_address, '0x${'0'.repeat(40)}') AS treasury,
  ${isSupportedSql} AS "isSupported", ${contractFaultSql} AS "contractFault"`;
const joins = 'JOIN companies c ON c.id = r.company_id JOIN networks w ON w.chain_id = r.chain_id';

/**
 * Locks the company's NFTs, in the order of their ids, so that no two transactions deadlock.
 * @returns the NFTs that the company has, by id in lower case
 */
export async function lockCandidates(
  tx: Tx,
  companyId: string,
  nftIds: readonly string[],
): Promise<ReadonlyMap<string, MintCandidate>> {
  if (nftIds.length === 0) return new Map();
  // No index of companies may help to find them: of a large one, it has millions.
  const { rows } = await prepared<Omit<MintCandidate, 'sealed'> & SealedSecret>(
    tx,
    'mint_candidates',
    `SELECT n.id, n.mint_state AS state, n.recipient, n.secret_cipher AS cipher, n.secret_key_id AS "keyId", ${columns}
     FROM nfts n JOIN rwas r ON r.id = n.rwa_id ${joins}
     WHERE n.company_id || '' = $1 AND n.id = ANY ($2::uuid[]) ORDER BY n.id FOR NO KEY UPDATE OF n`,
    [companyId, nftIds],
  );
  return new Map(rows.map(({ cipher, keyId, ...row }) => [row.id, { ...row, sealed: { cipher, keyId } }]));
}

/** Returns the limits of the company's RWAs, by id in lower case, without ids that the company does not have. */
export async function findEligibility(
  tx: Tx,
  companyId: string,
  rwaIds: readonly string[],
): Promise<ReadonlyMap<string, Eligibility>> {
  if (rwaIds.length === 0) return new Map();
  const { rows } = await prepared<Eligibility & { id: string }>(
    tx,
    'mint_eligibility',
    `SELECT r.id, ${columns} FROM rwas r ${joins} WHERE r.company_id || '' = $1 AND r.id = ANY ($2::uuid[])`,
    [companyId, rwaIds],
  );
  return new Map(rows.map(({ id, ...row }) => [id, row]));
}
