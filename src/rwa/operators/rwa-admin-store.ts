import type { Knex } from 'knex';
import { isChainId } from '../../chain/network.ts';
import { problem } from '../../errors.ts';
import type { ClaimSecretVault } from '../assets/claim-secret.ts';
import { claimUrl } from '../assets/claim-url.ts';
import type { MintState } from '../assets/nft-row.ts';
import { detailColumns, type RwaDetail, type RwaDetailRow, toRwaDetail } from '../assets/rwa-row.ts';
import { withClaimBase } from '../assets/rwa-store.ts';
import { serialText } from '../assets/token-id.ts';
import type { RwaInput } from './rwa-input.ts';

/** An RWA as the operator sees it, whatever company has it. */
export type OperatorRwa = RwaDetail & { readonly companyName: string };

/**
 * Makes an RWA of a company.
 * @throws problem `network_not_found` when the network is not registered; Error when the company is unknown
 */
export async function createRwa(db: Knex, companyId: string, input: RwaInput): Promise<OperatorRwa> {
  await assertRegistered(db, input.chainId);
  const company: unknown = await db('companies').where({ id: companyId }).first('id');
  if (company === undefined) throw new Error(`Company ${companyId} not found`);
  const rows: { id: string }[] = await db('rwas')
    .insert({
      company_id: companyId,
      name: input.name,
      description: input.description,
      type: input.type,
      image_url: input.imageUrl,
      chain_id: input.chainId,
      contract_address: input.contractAddress,
      is_buyable: input.isBuyable,
      is_claimable: input.isClaimable,
      price: input.price,
      currency: input.currency,
      data: input.data,
      claim_base_url: input.claimBaseUrl,
    })
    .returning('id');
  const made = rows[0] && (await findForOperator(db, rows[0].id));
  if (made === undefined) throw new Error('The new RWA cannot be read back.');
  return made;
}

async function assertRegistered(db: Knex, chainId: string): Promise<void> {
  const network: unknown = isChainId(chainId)
    ? await db('networks').where({ chain_id: chainId }).first('chain_id')
    : undefined;
  if (network === undefined) throw problem('network_not_found', { chainId });
}

/** RWAs of one company or of all, by creation. */
export async function listForOperator(
  db: Knex,
  { companyId, limit = 1_000, offset = 0 }: { companyId?: string; limit?: number; offset?: number } = {},
): Promise<OperatorRwa[]> {
  const query = operatorQuery(db).orderBy(['r.created_at', 'r.id']).limit(limit).offset(offset);
  if (companyId !== undefined) query.where('r.company_id', companyId);
  const rows: OperatorRow[] = await query;
  return rows.map(toOperatorRwa);
}

export async function findForOperator(db: Knex, id: string): Promise<OperatorRwa | undefined> {
  const rows: OperatorRow[] = await operatorQuery(db).where('r.id', id);
  return rows.map(toOperatorRwa)[0];
}

type OperatorRow = RwaDetailRow & { company_name: string };

const operatorQuery = (db: Knex) =>
  withClaimBase(db, db('rwas as r'), detailColumns).select({ company_name: 'c.name' });

const toOperatorRwa = (row: OperatorRow): OperatorRwa => ({
  ...toRwaDetail(row),
  companyName: row.company_name,
});

/** One line of an export: what a company prints on, or sends with, the thing itself. */
export type ExportRow = {
  /** Zero-padded as in the API. */
  readonly serial: string;
  readonly tokenId: string;
  readonly nftId: string;
  readonly url: string;
  readonly claimStatus: MintState;
};

type NftRow = {
  id: string;
  serial: string;
  token_id: string;
  secret_cipher: Buffer;
  secret_key_id: string;
  mint_state: MintState;
};

export type ExportOptions = {
  readonly rwa: OperatorRwa;
  /** The claim page where neither RWA nor company has one. */
  readonly claimBaseUrl: string;
  readonly batch?: number;
};

/** The NFTs of an RWA in order of serial, read in batches so that memory stays bounded. Carries secrets. */
export async function* exportRows(
  db: Knex,
  vault: ClaimSecretVault,
  { rwa, claimBaseUrl, batch = 1_000 }: ExportOptions,
): AsyncGenerator<ExportRow> {
  const base = rwa.claimBaseUrl ?? claimBaseUrl;
  let after = '0';
  for (;;) {
    const rows: NftRow[] = await db('nfts')
      .select('id', 'serial', 'token_id', 'secret_cipher', 'secret_key_id', 'mint_state')
      .where({ company_id: rwa.companyId, rwa_number: rwa.number.toString() })
      .where('serial', '>', after)
      .orderBy('serial')
      .limit(batch);
    for (const row of rows) yield toExportRow(row, base, vault);
    const last = rows.at(-1);
    if (last === undefined || rows.length < batch) return;
    after = last.serial;
  }
}

function toExportRow(row: NftRow, base: string, vault: ClaimSecretVault): ExportRow {
  const secret = vault.open(row.id, { cipher: row.secret_cipher, keyId: row.secret_key_id });
  return {
    serial: serialText(BigInt(row.serial)),
    tokenId: row.token_id,
    nftId: row.id,
    url: claimUrl(base, row.id, secret),
    claimStatus: row.mint_state,
  };
}
