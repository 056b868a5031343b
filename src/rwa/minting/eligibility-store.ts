import type { Database, Tx } from '../../contract/transaction.ts';
import { prepared } from '../../db/prepared.ts';
import { together } from '../../db/together.ts';
import type { SealedSecret } from '../assets/claim-secret.ts';
import type { MintState } from '../assets/nft-store.ts';
import { isLockedSql } from '../assets/secret-attempt-store.ts';

/** What decides whether NFTs of an RWA are minted. */
export type MintGround = {
  readonly isClaimable: boolean;
  /** Decimal. */
  readonly chainId: string;
  /** The network has a contract to mint on and somebody to sign. */
  readonly isSupported: boolean;
  /** EIP-55. */
  readonly treasury: string | null;
};

/** An NFT that is asked for, its row locked until the transaction ends. */
export type MintCandidate = MintGround & {
  readonly id: string;
  readonly state: MintState;
  /** EIP-55. */
  readonly recipient: string | null;
  readonly sealed: SealedSecret;
  /** Too many wrong secrets were tried. */
  readonly isLocked: boolean;
};

export type MintRequestStore = {
  /** The company's NFT, locked; undefined when the company has no such NFT. */
  lockCandidate(tx: Tx, companyId: string, nftId: string): Promise<MintCandidate | undefined>;
  /** What the company's RWA allows; undefined when the company has no such RWA. */
  findGround(tx: Tx, companyId: string, rwaId: string): Promise<MintGround | undefined>;
};

type GroundRow = {
  is_claimable: boolean;
  chain_id: string;
  is_supported: boolean;
  treasury_address: string | null;
};
type CandidateRow = GroundRow & {
  id: string;
  mint_state: MintState;
  recipient: string | null;
  secret_cipher: Buffer;
  secret_key_id: string;
  is_locked: boolean;
};

const ground = `r.is_claimable, r.chain_id, c.treasury_address, w.minter_contract IS NOT NULL
  AND EXISTS (SELECT 1 FROM mint_lanes l WHERE l.chain_id = r.chain_id) AS is_supported`;
const around = 'JOIN companies c ON c.id = r.company_id JOIN networks w ON w.chain_id = r.chain_id';

export const mintRequestStore: MintRequestStore = {
  lockCandidate: (tx, companyId, nftId) =>
    together(tx, `mint_candidate ${companyId}`, nftId, (ids) => lockAll(tx, companyId, ids)),
  findGround: (tx, companyId, rwaId) =>
    together(tx, `mint_ground ${companyId}`, rwaId, (ids) => findAll(tx, companyId, ids)),
};

// Rows are locked in one order, so that no two transactions deadlock.
async function lockAll(tx: Tx, companyId: string, ids: readonly string[]) {
  const { rows } = await prepared<CandidateRow>(
    tx,
    'mint_candidate',
    `SELECT n.id, n.mint_state, n.recipient, n.secret_cipher, n.secret_key_id, ${isLockedSql} AS is_locked,
       ${ground}
     FROM nfts n JOIN rwas r ON r.id = n.rwa_id ${around}
     WHERE n.company_id = $1 AND n.id = ANY ($2::uuid[]) ORDER BY n.id FOR NO KEY UPDATE OF n`,
    [companyId, ids],
  );
  const found = new Map(rows.map((row) => [row.id, toCandidate(row)]));
  return ids.map((id) => found.get(id.toLowerCase()));
}

async function findAll(tx: Tx, companyId: string, ids: readonly string[]) {
  const { rows } = await prepared<GroundRow & { id: string }>(
    tx,
    'mint_ground',
    `SELECT r.id, ${ground} FROM rwas r ${around} WHERE r.company_id = $1 AND r.id = ANY ($2::uuid[])`,
    [companyId, ids],
  );
  const found = new Map(rows.map((row) => [row.id, toGround(row)]));
  return ids.map((id) => found.get(id.toLowerCase()));
}

/** Whether a company other than this one has the NFT. */
export async function isForeignNft(db: Database | Tx, companyId: string, nftId: string): Promise<boolean> {
  const rows: unknown[] = await db('nfts')
    .select('id')
    .where({ id: nftId })
    .whereNot('company_id', companyId);
  return rows.length > 0;
}

const toGround = (row: GroundRow): MintGround => ({
  isClaimable: row.is_claimable,
  chainId: row.chain_id,
  isSupported: row.is_supported,
  treasury: row.treasury_address,
});

const toCandidate = (row: CandidateRow): MintCandidate => ({
  ...toGround(row),
  id: row.id,
  state: row.mint_state,
  recipient: row.recipient,
  sealed: { cipher: row.secret_cipher, keyId: row.secret_key_id },
  isLocked: row.is_locked,
});
