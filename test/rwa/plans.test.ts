import { describe, expect } from 'vitest';
import type { Database } from '../../src/contract/transaction.ts';
import type { NftFilter } from '../../src/rwa/assets/nft-filter.ts';
import { countNfts, findForeignNfts, listNfts, revealNft } from '../../src/rwa/assets/nft-store.ts';
import { countRwas, findRwa, findRwasByNumber, listRwas } from '../../src/rwa/assets/rwa-store.ts';
import { listKeysInUse } from '../../src/rwa/assets/secret-keys-store.ts';
import { findMintedToken } from '../../src/rwa/assets/token-store.ts';
import { lockGasRoom } from '../../src/rwa/minting/accept/mint-quota-store.ts';
import { findContractRecipients } from '../../src/rwa/minting/accept/recipient-store.ts';
import { listOperatorRwas } from '../../src/rwa/operators/rwa-admin-store.ts';
import { test } from '../support/fixtures.ts';
import { planOf, rowsReadBy, statementsOf } from '../support/statements.ts';
import { addNetwork, contractAddress, recipient } from './samples.ts';

const page = { limit: 50, offset: 10 };
const company = 'company 7';
const entry = { action: 'seen', origin: { keyId: 'key', address: '127.0.0.1', requestId: 'request' } };

// 40 companies, 2,000 RWAs, 80,000 NFTs, and fresh statistics: the planner chooses as in production.
// Three in ten are minted; what is under way or failed is rare.
test.beforeAll(async ({ db }) => {
  await addNetwork(db);
  await db.raw(`
    INSERT INTO companies (id, name) SELECT 'company ' || n, 'company ' || n FROM generate_series(0, 39) AS n;
    INSERT INTO rwas (number, company_id, name, type, chain_id, contract_address, is_buyable, is_claimable, created_at)
    SELECT n, 'company ' || n % 40, 'rwa ' || n, 'type ' || n / 40 % 10, 31337, '${contractAddress}', n % 3 = 0,
      n % 2 = 0, timestamptz '2026-01-01' + n * interval '1 minute'
    FROM generate_series(1, 2000) AS n;
    INSERT INTO nfts (company_id, rwa_id, rwa_number, serial, token_id, secret_cipher, secret_key_id, mint_state,
      minted_at, minted_tx, minted_block, updated_at)
    SELECT r.company_id, r.id, r.number, n, r.number * 18446744073709551616::numeric + n, '\\x00',
      CASE WHEN n = 1 THEN 'old' ELSE 'new' END, s.state,
      CASE s.state WHEN 'minted' THEN now() END, CASE s.state WHEN 'minted' THEN '0x' END,
      CASE s.state WHEN 'minted' THEN 1 END, timestamptz '2026-01-01' + (r.number * 40 + n) * interval '1 minute'
    FROM rwas r CROSS JOIN generate_series(1, 40) AS n CROSS JOIN LATERAL (
      SELECT CASE WHEN n <= 12 THEN 'minted' WHEN r.number % 50 = 0 AND n = 13 THEN 'queued'
        WHEN r.number % 50 = 1 AND n = 14 THEN 'failed' ELSE 'unclaimed' END AS state
    ) AS s;
    INSERT INTO mint_notes (nft_id, reason, detail) SELECT id, 'unexplained', '' FROM nfts WHERE serial < 20;
    INSERT INTO mint_lanes (chain_id, signer)
    SELECT 31337, '0x' || lpad(to_hex(n), 40, '0') FROM generate_series(1, 3) AS n;
  `);
  await db.raw('VACUUM ANALYZE companies, rwas, nfts, mint_notes, mint_lanes');
});

/** The plans of every SELECT that the work sends. */
async function plansOf(db: Database, work: () => Promise<unknown>): Promise<string[]> {
  const sent = await statementsOf(db, work);
  return Promise.all(sent.map((statement) => planOf(db, statement)));
}

async function expectIndexes(db: Database, work: () => Promise<unknown>): Promise<string> {
  const plans = await plansOf(db, work);
  for (const plan of plans) {
    expect(plan).toMatch(/(Index (Only )?|Bitmap Heap )Scan/);
    // The tables of companies and lanes fit in one page, where no index could be quicker.
    expect(plan).not.toMatch(/Seq Scan on (rwas|nfts|mint_(notes|transactions|transaction_nfts))/);
  }
  return plans.join('\n');
}

test('whether an address is an NFT contract is a step in the index of contracts, for each network', async ({
  db,
}) => {
  for (const address of [contractAddress, recipient]) {
    const ask = () => findContractRecipients(db, { companyId: company, recipients: [address] });
    expect([...(await ask())]).toEqual(address === contractAddress ? [address] : []);
    const plan = await expectIndexes(db, ask);
    expect(plan).toContain('rwas_contracts');
    expect(await rowsReadBy(db, 'rwas', ask)).toBeLessThan(10);
  }
});

async function someRwa(db: Database) {
  const [rwa] = await listRwas(db, company, {}, page);
  if (rwa === undefined) throw new Error(`${company} has no RWA`);
  return rwa;
}

describe('the RWAs of a company are found by an index', () => {
  test.for([
    ['all', {}],
    ['of a type', { type: 'type 3' }],
    ['buyable', { isBuyable: true }],
    ['claimable', { isClaimable: false }],
    ['with archived ones', { includeArchived: true }],
    ['by all filters at once', { type: 'type 3', isBuyable: false, isClaimable: true }],
  ] as const)('%s', async ([_, filter], { db }) => {
    await expectIndexes(db, () => listRwas(db, company, filter, page));
    await expectIndexes(db, () => countRwas(db, company, filter));
  });

  test('one by id, and some by number', async ({ db }) => {
    const { id, number } = await someRwa(db);
    await expectIndexes(db, () => findRwa(db, company, id));
    await expectIndexes(db, () => findRwasByNumber(db, company, [1n, 2n, number]));
  });
});

const filters: [string, NftFilter][] = [
  ['all', {}],
  ['minted', { claimed: true }],
  ['not minted', { claimed: false }],
  ['unclaimed', { mintState: 'unclaimed' }],
  ['queued', { mintState: 'queued' }],
  ['failed', { mintState: 'failed' }],
  ['changed lately', { updatedSince: new Date('2026-02-20T00:00:00Z') }],
  ['changed at any time', { updatedSince: new Date('2020-01-01T00:00:00Z') }],
  ['not minted and changed lately', { claimed: false, updatedSince: new Date('2026-02-20T00:00:00Z') }],
];

test.for([
  ['all companies', {}],
  ['one', { companyId: company }],
] as const)('RWAs that operators list, of %s, are read as far as the page', async ([_, filter], { db }) => {
  const all = await listOperatorRwas(db, filter);
  for (const from of [0, 20]) {
    const list = () => listOperatorRwas(db, { ...filter, after: all[from - 1]?.id, limit: 10 });
    expect(await list()).toEqual(all.slice(from, from + 10));
    expect(await rowsReadBy(db, 'rwas', list)).toBeLessThanOrEqual(11);
  }
});

describe('the NFTs of a company are found by an index', () => {
  test.for(filters)('%s', async ([_, filter], { db }) => {
    await expectIndexes(db, () => listNfts(db, company, filter, page));
    await expectIndexes(db, () => countNfts(db, company, filter));
  });

  test('and a page of them is read in order, without sorting', async ({ db }) => {
    const first = { limit: 50, offset: 0 };
    const plain = await expectIndexes(db, () => listNfts(db, company, {}, first));
    expect(plain).toContain('nfts_listed');
    const pending = await expectIndexes(db, () => listNfts(db, company, { claimed: false }, first));
    expect(pending).toContain('nfts_listed');
    const queued = await expectIndexes(db, () => listNfts(db, company, { mintState: 'queued' }, first));
    expect(queued).toContain('nfts_by_state');
    // Where a sample of the table shows next to none in a state, sorting those few is the cheaper plan.
    for (const plan of [plain, pending]) expect(plan).not.toMatch(/Sort/);
  });
});

describe('the NFTs of an RWA are found by an index', () => {
  test.for(filters)('%s', async ([_, filter], { db }) => {
    const ofRwa = { ...filter, rwaNumber: (await someRwa(db)).number };
    await expectIndexes(db, () => listNfts(db, company, ofRwa, page));
    await expectIndexes(db, () => countNfts(db, company, ofRwa));
  });
});

describe('a filter of NFTs that excludes itself', () => {
  test.for([
    ['minted and not claimed', { claimed: false, mintState: 'minted' }],
    ['claimed and queued', { claimed: true, mintState: 'queued' }],
    ['the same, changed lately', { claimed: true, mintState: 'queued', updatedSince: new Date(0) }],
  ] as const)('is answered without a statement: %s', async ([_, filter], { db }) => {
    const ofRwa = { ...filter, rwaNumber: (await someRwa(db)).number };
    for (const each of [filter, ofRwa]) {
      const asked = statementsOf(db, async () => {
        expect(await listNfts(db, company, each, page)).toEqual([]);
        expect(await countNfts(db, company, each)).toBe(0);
      });
      await expect(asked).rejects.toThrow('Nothing was asked of the database.');
    }
  });
});

describe('single rows are found by an index', () => {
  test('an NFT of the company, and whether another company has it', async ({ db }) => {
    const [nft] = await listNfts(db, 'company 8', {}, page);
    await expectIndexes(db, () => revealNft(db, company, String(nft?.id), entry));
    await expectIndexes(db, () => findForeignNfts(db, company, [String(nft?.id)]));
  });

  test('a minted token', async ({ db }) => {
    await expectIndexes(db, () => findMintedToken(db, ((77n << 64n) + 3n).toString()));
  });

  test('the keys in use, without reading every secret', async ({ db }) => {
    const plan = await expectIndexes(db, () => listKeysInUse(db));
    expect(plan).toContain('nfts_secret_key');
    expect(await listKeysInUse(db)).toEqual(['new', 'old']);
  });
});

test('what waits of a company with a budget for gas is counted by indexes', async ({ db }) => {
  await db('company_gas_budgets').insert({ company_id: company, chain_id: 31337, wei_per_day: '1000' });
  const rooms = await db.transaction((tx) => statementsOf(tx, () => lockGasRoom(tx, company, ['31337'])));
  const plan = await planOf(db, rooms.at(-1) ?? { sql: '', bindings: [] });
  expect(plan).toMatch(/Index Scan.* on nfts/);
  expect(plan).not.toMatch(/Seq Scan on (nfts|mint_(transactions|transaction_nfts))/);
});
