import type { Database } from '../../contract/transaction.ts';
import type { ClaimSecretVault } from '../assets/claim-secret.ts';
import { claimUrl } from '../assets/claim-url.ts';
import { stateOfRow } from '../assets/mint-state-sql.ts';
import type { MintState } from '../assets/nft-row.ts';
import { serialText } from '../assets/token-id.ts';
import type { OperatorRwa } from './rwa-admin-store.ts';

const columns = ['id', 'serial', 'token_id', 'secret_cipher', 'secret_key_id', 'mint_state'];

type NftRow = {
  id: string;
  serial: string;
  token_id: string;
  secret_cipher: Buffer;
  secret_key_id: string;
  mint_state: MintState;
};

/** One line of an export: what a company prints on, or sends with, the thing itself. */
export type ExportRow = {
  /** Zero-padded as in the API. */
  readonly serial: string;
  /** Decimal. */
  readonly tokenId: string;
  readonly nftId: string;
  /** The claim page; contains the claim secret. */
  readonly url: string;
  readonly claimStatus: MintState;
};

export type ExportOptions = {
  readonly rwa: OperatorRwa;
  /** The claim page where neither RWA nor company has one. */
  readonly claimBaseUrl: string;
  /** Only NFTs whose mint stands so. */
  readonly claimStatus?: MintState | undefined;
  /** Called for an NFT whose secret is damaged, which is left out. */
  readonly onDamaged: (nft: Pick<ExportRow, 'serial' | 'nftId'>) => void;
};

const batch = 1_000;

/**
 * Yields the NFTs of an RWA in order of serial. Reads them in batches so that memory stays bounded.
 * @throws Error when a claim secret needs a key that the vault does not have
 */
export async function* exportRows(
  db: Database,
  vault: ClaimSecretVault,
  { rwa, claimBaseUrl, claimStatus, onDamaged }: ExportOptions,
): AsyncGenerator<ExportRow> {
  const base = rwa.claimBaseUrl ?? claimBaseUrl;
  let after = '0';
  for (;;) {
    const query = db('nfts')
      .select(columns)
      .where({ company_id: rwa.companyId, rwa_number: rwa.number.toString() })
      .where('serial', '>', after)
      .orderBy('serial')
      .limit(batch);
    if (claimStatus !== undefined) query.whereRaw(`${stateOfRow()} = ?`, [claimStatus]);
    const rows: NftRow[] = await query;
    for (const row of rows) {
      const secret = openOf(row, vault);
      if (secret === undefined) onDamaged({ serial: serialText(BigInt(row.serial)), nftId: row.id });
      else yield toExportRow(row, claimUrl(base, row.id, secret));
    }
    const last = rows.at(-1);
    if (last === undefined || rows.length < batch) return;
    after = last.serial;
  }
}

/** @returns undefined for a damaged one, which is no reason to keep back all others */
function openOf({ id, secret_cipher: cipher, secret_key_id: keyId }: NftRow, vault: ClaimSecretVault) {
  try {
    return vault.open(id, { cipher, keyId });
  } catch (error) {
    if (!vault.knows(keyId)) throw error;
    return undefined;
  }
}

function toExportRow(row: NftRow, url: string): ExportRow {
  return {
    serial: serialText(BigInt(row.serial)),
    tokenId: row.token_id,
    nftId: row.id,
    url,
    claimStatus: row.mint_state,
  };
}
