import { describe, expect } from 'vitest';
import type { Database } from '../../src/contract/transaction.ts';
import {
  findCompanyById,
  findCompanyByIdOrName,
  insertCompany,
  listCompanies,
  updateCompany,
  ZeroTreasuryError,
} from '../../src/keys/company-store.ts';
import { setZeroTreasury } from '../rwa/samples.ts';
import { test } from '../support/fixtures.ts';

const treasuryAddress = `0x${'ab'.repeat(20)}`;
let db: Database;

test.beforeAll(async ({ database }) => {
  db = database.db;
});

describe('a company', () => {
  test('is made with a generated id, and found by id and by name', async () => {
    const made = await insertCompany(db, {
      name: 'acme',
      treasuryAddress,
      claimBaseUrl: 'https://acme.example',
    });
    expect(made).toMatchObject({ name: 'acme', treasuryAddress, claimBaseUrl: 'https://acme.example' });
    expect(await findCompanyByIdOrName(db, made.id)).toEqual(made);
    expect(await findCompanyByIdOrName(db, 'acme')).toEqual(made);
    expect(await findCompanyById(db, made.id)).toEqual(made);
    expect(await findCompanyByIdOrName(db, 'nobody')).toBeUndefined();
  });

  test('may have the id that another service gave it', async () => {
    expect(await insertCompany(db, { id: 'org_7', name: 'seven' })).toMatchObject({ id: 'org_7' });
  });

  test('is found by id before another is found by name, and by id alone where a key decides', async () => {
    const other = await insertCompany(db, { name: 'org_8' });
    expect(await findCompanyById(db, 'org_8')).toBeUndefined();
    expect(await findCompanyByIdOrName(db, 'org_8')).toEqual(other);
    const eight = await insertCompany(db, { id: 'org_8', name: 'eight' });
    expect(await findCompanyByIdOrName(db, 'org_8')).toEqual(eight);
  });

  test('is refused when its name or id is taken', async () => {
    await insertCompany(db, { id: 'org_9', name: 'nine' });
    await expect(insertCompany(db, { name: 'nine' })).rejects.toThrow('exists already');
    await expect(insertCompany(db, { id: 'org_9', name: 'ninth' })).rejects.toThrow('exists already');
    await expect(updateCompany(db, 'org_7', { name: 'nine' })).rejects.toThrow('exists already');
  });

  test('is changed only where something is given, and cleared by null', async () => {
    const { id } = await insertCompany(db, { name: 'changing', treasuryAddress });
    const claimBaseUrl = 'https://claims.example';
    expect(await updateCompany(db, id, { claimBaseUrl })).toMatchObject({ treasuryAddress, claimBaseUrl });
    const cleared = { name: 'changed', treasuryAddress: null, claimBaseUrl };
    expect(await updateCompany(db, id, { name: 'changed', treasuryAddress: null })).toMatchObject(cleared);
    expect(await updateCompany(db, 'nobody', { name: 'x' })).toBeUndefined();
  });

  test('stands in the list by name', async () => {
    const names = (await listCompanies(db)).map(({ name }) => name);
    expect(names).toEqual([...names].sort());
    expect(names).toContain('acme');
  });

  test('takes no zero address as treasury, and says so where one stands from before', async () => {
    const zero = `0x${'0'.repeat(40)}`;
    await expect(insertCompany(db, { name: 'zero', treasuryAddress: zero })).rejects.toThrow(
      ZeroTreasuryError,
    );
    const { id } = await insertCompany(db, { name: 'zero', treasuryAddress });
    await expect(updateCompany(db, id, { treasuryAddress: zero })).rejects.toThrow(ZeroTreasuryError);
    await setZeroTreasury(db, id);
    await expect(updateCompany(db, id, { name: 'zero ltd' })).rejects.toThrow(ZeroTreasuryError);
    expect(await updateCompany(db, id, { treasuryAddress: null })).toMatchObject({ treasuryAddress: null });
  });

  test('takes no treasury address that is none', async () => {
    await expect(insertCompany(db, { name: 'bad', treasuryAddress: '0x12' })).rejects.toThrow(/check/);
  });
});
