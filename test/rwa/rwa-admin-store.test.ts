import { randomUUID } from 'node:crypto';
import { describe, expect } from 'vitest';
import type { Database } from '../../src/contract/transaction.ts';
import {
  createRwa,
  findOperatorRwa,
  listOperatorRwas,
  type OperatorRwa,
} from '../../src/rwa/operators/rwa-admin-store.ts';
import { type ExportRow, exportRows } from '../../src/rwa/operators/rwa-export-store.ts';
import { parseRwaInput } from '../../src/rwa/operators/rwa-input.ts';
import { test } from '../support/fixtures.ts';
import {
  addCompany,
  addNetwork,
  addNfts,
  addRwa,
  claimBaseUrl,
  contractAddress,
  markMinted,
  vaultOf,
} from './samples.ts';

const vault = vaultOf(['only']);

test.beforeAll(async ({ db }) => {
  await addNetwork(db);
  await addCompany(db, 'acme');
  await addCompany(db, 'globex');
});

describe('the operator makes an RWA', () => {
  test('whose values are kept exactly', async ({ db }) => {
    const made = await addRwa(db, 'acme', {
      contractAddress: contractAddress.toLowerCase(),
      price: '12345678901234567890.10',
      currency: 'EUR',
      isClaimable: true,
      data: { litres: 220, nested: { deep: [1, null] } },
      claimBaseUrl: 'https://acme.example/claim',
    });
    expect(made).toMatchObject({
      companyId: 'acme',
      companyName: 'acme',
      chainId: '31337',
      contractAddress,
      price: '12345678901234567890.10',
      isBuyable: false,
      isClaimable: true,
      data: { litres: 220, nested: { deep: [1, null] } },
      claimBaseUrl: 'https://acme.example/claim',
      totalNfts: 0n,
      claimedNfts: 0n,
    });
    expect(await findOperatorRwa(db, made.id)).toEqual(made);
  });

  test('only on a registered network', async ({ db }) => {
    await expect(addRwa(db, 'acme', { chainId: '77' })).rejects.toThrow('Network with chainId 77 not found');
    const largest = '9999999999999999';
    await expect(addRwa(db, 'acme', { chainId: largest })).rejects.toThrow(`${largest} not found`);
  });

  test('only for a company that exists', async ({ db }) => {
    const parsed = parseRwaInput({ name: 'x', type: 'y', chainId: 31337, contractAddress });
    if (!parsed.ok) throw new Error('must parse');
    await expect(createRwa(db, 'nobody', parsed.input)).rejects.toThrow('Company nobody not found');
  });
});

describe('the operator sees', () => {
  test('the RWAs of all companies or of one, by creation', async ({ db }) => {
    const made = [await addRwa(db, 'globex'), await addRwa(db, 'globex')];
    expect(await listOperatorRwas(db, { companyId: 'globex' })).toEqual(made);
    expect((await listOperatorRwas(db)).map(({ id }) => id)).toEqual(
      expect.arrayContaining(made.map((r) => r.id)),
    );
    expect(await listOperatorRwas(db, { companyId: 'globex', limit: 1, offset: 1 })).toEqual(made.slice(1));
  });

  test('no RWA under an unknown id', async ({ db }) => {
    expect(await findOperatorRwa(db, randomUUID())).toBeUndefined();
  });
});

const unexpected = ({ nftId }: { readonly nftId: string }) => {
  throw new Error(`NFT ${nftId} is damaged`);
};

async function exported(db: Database, rwa: OperatorRwa, batch = 1_000): Promise<ExportRow[]> {
  const rows: ExportRow[] = [];
  for await (const row of exportRows(db, vault, { rwa, claimBaseUrl, batch, onDamaged: unexpected }))
    rows.push(row);
  return rows;
}

describe('an export', () => {
  test('has every NFT once, by serial, over any number of batches', async ({ db }) => {
    const rwa = await addRwa(db, 'acme');
    await addNfts(db, vault, await addRwa(db, 'acme'), 2);
    const nfts = await addNfts(db, vault, rwa, 7);
    await markMinted(db, String(nfts[2]?.id));
    for (const batch of [1, 3, 7, 100]) {
      const rows = await exported(db, rwa, batch);
      expect(rows).toEqual(
        nfts.map((nft, index) => ({
          serial: `00000${index + 1}`,
          tokenId: nft.tokenId,
          nftId: nft.id,
          url: `${claimBaseUrl}/${nft.id}#${vault.open(nft.id, nft.sealed)}`,
          claimStatus: index === 2 ? 'minted' : 'unclaimed',
        })),
      );
    }
  });

  test('of an RWA without NFTs is empty', async ({ db }) => {
    const rwa = await addRwa(db, 'acme');
    expect(await exported(db, rwa)).toEqual([]);
  });
});
