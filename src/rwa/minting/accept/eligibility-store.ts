import { isZeroAddress } from '../../../chain/address.ts';
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
  /** What is wrong with a contract that is known as unfit, in words; null for any other. */
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

type EligibilityRow = {
  is_archived: boolean;
  is_claimable: boolean;
  chain_id: string;
  contract_address: string;
  is_supported: boolean;
  contract_fault: string | null;
  treasury_address: string | null;
};
type CandidateRow = EligibilityRow & {
  id: string;
  mint_state: MintState;
  recipient: string | null;
  secret_cipher: Buffer;
  secret_key_id: string;
};

/** Whether the network `w` of the RWA `r` mints; also while nobody is at work who can sign. */
export const isSupportedSql = `(w.minter_contract IS NOT NULL
  AND EXISTS (SELECT FROM mint_lanes l WHERE l.chain_id = r.chain_id))`;

/** What is wrong with the contract of the RWA `r`; null unless it is known as none that mints. */
export const contractFaultSql = `(SELECT v.detail FROM contract_verdicts v WHERE v.chain_id = r.chain_id
  AND v.contract = r.contract_address AND v.verdict = 'unfit')`;

const columns = `r.archived_at IS NOT NULL AS is_archived, r.is_claimable, r.chain_id, r.contract_address,
  c.treasury_address,
  ${isSupportedSql} AS is_supported, ${contractFaultSql} AS contract_fault`;
const joins = 'JOIN companies c ON c.id = r.company_id JOIN networks w ON w.chain_id = r.chain_id';

/**
 * Locks the company's NFTs, in the order of their ids, so that no two transactions deadlock.
 * @returns those that the company has, by id in lower case
 */
export async function lockCandidates(
  tx: Tx,
  companyId: string,
  nftIds: readonly string[],
): Promise<ReadonlyMap<string, MintCandidate>> {
  if (nftIds.length === 0) return new Map();
  // No index of companies may help to find them: of a large one, it has millions.
  const { rows } = await prepared<CandidateRow>(
    tx,
    'mint_candidates',
    `SELECT n.id, n.mint_state, n.recipient, n.secret_cipher, n.secret_key_id, ${columns}
     FROM nfts n JOIN rwas r ON r.id = n.rwa_id ${joins}
     WHERE n.company_id || '' = $1 AND n.id = ANY ($2::uuid[]) ORDER BY n.id FOR NO KEY UPDATE OF n`,
    [companyId, nftIds],
  );
  return new Map(rows.map((row) => [row.id, toCandidate(row)]));
}

/** What the company's RWAs allow, by id in lower case; without those that the company does not have. */
export async function findEligibility(
  tx: Tx,
  companyId: string,
  rwaIds: readonly string[],
): Promise<ReadonlyMap<string, Eligibility>> {
  if (rwaIds.length === 0) return new Map();
  const { rows } = await prepared<EligibilityRow & { id: string }>(
    tx,
    'mint_eligibility',
    `SELECT r.id, ${columns} FROM rwas r ${joins} WHERE r.company_id || '' = $1 AND r.id = ANY ($2::uuid[])`,
    [companyId, rwaIds],
  );
  return new Map(rows.map((row) => [row.id, toEligibility(row)]));
}

const toEligibility = (row: EligibilityRow): Eligibility => ({
  isArchived: row.is_archived,
  isClaimable: row.is_claimable,
  chainId: row.chain_id,
  contractAddress: row.contract_address,
  isSupported: row.is_supported,
  contractFault: row.contract_fault,
  // A treasury from before such treasuries were rejected: nothing can be minted to it.
  treasury:
    row.treasury_address !== null && isZeroAddress(row.treasury_address) ? null : row.treasury_address,
});

const toCandidate = (row: CandidateRow): MintCandidate => ({
  ...toEligibility(row),
  id: row.id,
  state: row.mint_state,
  recipient: row.recipient,
  sealed: { cipher: row.secret_cipher, keyId: row.secret_key_id },
});
