import { randomBytes } from 'node:crypto';
import type { Knex } from 'knex';
import { type ClaimSecretVault, createClaimSecretVault } from '../../src/rwa/assets/claim-secret.ts';
import { issueNfts } from '../../src/rwa/assets/nft-issuer.ts';
import type { Nft } from '../../src/rwa/assets/nft-row.ts';
import { parseRwaInput } from '../../src/rwa/assets/rwa-input.ts';
import { createRwa, type OperatorRwa } from '../../src/rwa/operators/rwa-admin-store.ts';

export const contractAddress = '0x5FbDB2315678afecb367f032d93F642f64180aa3';
export const recipient = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
export const mintedTx = `0x${'ab'.repeat(32)}`;
export const claimBaseUrl = 'https://claim.example/c';

/** A vault with keys of these ids; the first seals. */
export function vaultOf(ids: readonly string[], keys = new Map<string, Buffer>()): ClaimSecretVault {
  return createClaimSecretVault(new Map(ids.map((id) => [id, keys.get(id) ?? randomBytes(32)])));
}

/** The vault of the service under test. */
export const serviceVault = vaultOf(['test'], new Map([['test', Buffer.alloc(32, 7)]]));

export async function addNetwork(
  db: Knex,
  chainId = '31337',
  rpcUrl = 'http://127.0.0.1:1',
): Promise<string> {
  await db('networks')
    .insert({
      chain_id: chainId,
      name: `Network ${chainId}`,
      currency_name: 'Ether',
      currency_symbol: 'ETH',
      currency_decimals: 18,
      rpc_urls: [rpcUrl],
      data_provider: 'indexer',
      confirmations: 1,
      finality_depth: 1,
    })
    .onConflict('chain_id')
    .ignore();
  return chainId;
}

/** Makes sure of a company whose id and name are these. */
export async function addCompany(db: Knex, id: string, more: object = {}): Promise<string> {
  await db('companies')
    .insert({ id, name: id, ...more })
    .onConflict('id')
    .merge();
  return id;
}

/** An RWA as the operator makes it. */
export async function addRwa(db: Knex, companyId: string, more: object = {}): Promise<OperatorRwa> {
  const parsed = parseRwaInput({ name: 'Cask 17', type: 'whisky', chainId: 31337, contractAddress, ...more });
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.errors));
  return createRwa(db, companyId, parsed.input);
}

/** NFTs as the API makes them. */
export async function addNfts(
  db: Knex,
  vault: ClaimSecretVault,
  rwa: OperatorRwa,
  count: number,
): Promise<readonly Nft[]> {
  const wanted = { companyId: rwa.companyId, rwaId: rwa.id, count };
  return db.transaction((tx) => issueNfts(tx, vault, wanted));
}

/** The same with one NFT. */
export async function addNft(db: Knex, vault: ClaimSecretVault, rwa: OperatorRwa): Promise<Nft> {
  const [nft] = await addNfts(db, vault, rwa, 1);
  if (nft === undefined) throw new Error('no NFT was made');
  return nft;
}

/** Leaves an NFT as a finished mint leaves it. */
export async function markMinted(db: Knex, nftId: string): Promise<void> {
  await db('nfts')
    .where({ id: nftId })
    .update({
      mint_state: 'minted',
      recipient,
      minted_at: new Date('2027-03-02T10:15:30.250Z'),
      minted_tx: mintedTx,
      minted_block: '1042',
    });
  await db('rwas')
    .whereIn('id', db('nfts').select('rwa_id').where({ id: nftId }))
    .increment('claimed_nfts');
}

/** Gives a company the zero address as treasury, as it may have it from before that was refused. */
export async function setZeroTreasury(db: Knex, companyId: string): Promise<void> {
  const rule = 'companies_treasury_not_zero';
  const zero = `0x${'0'.repeat(40)}`;
  await db.transaction(async (tx) => {
    await tx.raw('ALTER TABLE companies DROP CONSTRAINT ??', [rule]);
    await tx('companies').where({ id: companyId }).update({ treasury_address: zero });
    await tx.raw(`ALTER TABLE companies ADD CONSTRAINT ?? CHECK (treasury_address <> '${zero}') NOT VALID`, [
      rule,
    ]);
  });
}

/** Gives each RWA so many NFTs at once, without secrets that open; their table is not analysed by itself from then on. */
export async function addManyNfts(db: Knex, count: number): Promise<void> {
  await db.raw('ALTER TABLE nfts SET (autovacuum_enabled = false)');
  await db.raw(
    `INSERT INTO nfts (company_id, rwa_id, rwa_number, serial, token_id, secret_cipher, secret_key_id)
     SELECT r.company_id, r.id, r.number, n, r.number * 18446744073709551616::numeric + n, '\\x00', 'test'
     FROM rwas r CROSS JOIN generate_series(1, ?::int) AS n`,
    [count],
  );
}
