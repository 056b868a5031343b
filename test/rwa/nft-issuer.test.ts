import { describe, expect } from 'vitest';
import type { Database } from '../../src/contract/transaction.ts';
import { issueNfts } from '../../src/rwa/assets/nft-issuer.ts';
import { findRwa } from '../../src/rwa/assets/rwa-store.ts';
import type { OperatorRwa } from '../../src/rwa/operators/rwa-admin-store.ts';
import { test } from '../support/fixtures.ts';
import { addCompany, addNetwork, addRwa, vaultOf } from './samples.ts';

const vault = vaultOf(['only']);
let rwa: OperatorRwa;

test.beforeAll(async ({ db }) => {
  await addNetwork(db);
  await addCompany(db, 'acme');
  rwa = await addRwa(db, 'acme');
});

const issue = (db: Database, count: number, companyId = 'acme', rwaId = rwa.id) =>
  db.transaction((tx) => issueNfts(tx, vault, { companyId, rwaId, count }));

describe('an issue of NFTs', () => {
  test('that is rolled back leaves no gap in the serials and no count', async ({ db }) => {
    const failing = db.transaction(async (tx) => {
      await issueNfts(tx, vault, { companyId: 'acme', rwaId: rwa.id, count: 5 });
      throw new Error('something later failed');
    });
    await expect(failing).rejects.toThrow('something later failed');
    const nfts = await issue(db, 2);
    expect(nfts.map(({ serial }) => serial)).toEqual([1n, 2n]);
    expect(await findRwa(db, 'acme', rwa.id)).toMatchObject({
      totalNfts: 2n,
      claimedNfts: 0n,
    });
  });
});

describe('the table of NFTs', () => {
  test.for([
    ['a token id that is not made of RWA and serial', { token_id: '1' }],
    ['the number of another RWA', { rwa_number: '999', token_id: ((999n << 64n) + 1n).toString() }],
    ['another company', { company_id: 'globex' }],
    ['minted without transaction and block', { mint_state: 'minted', minted_at: new Date() }],
    ['a transaction while it is not minted', { minted_tx: '0x' }],
    ['a state that there is not', { mint_state: 'done' }],
    ['data that are no object', { data: '[]' }],
  ] as const)('refuses %s', async ([_, values], { db }) => {
    await expect(db('nfts').where({ serial: 1 }).update(values)).rejects.toThrow(/violates/);
  });
});
