import { describe, expect } from 'vitest';
import type { Database } from '../../src/contract/transaction.ts';
import {
  findCompanyById,
  findCompanyByIdOrName,
  insertCompany,
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
  test('is found by id before another is found by name, and by id alone where a key decides', async () => {
    const other = await insertCompany(db, { name: 'org_8' });
    expect(await findCompanyById(db, 'org_8')).toBeUndefined();
    expect(await findCompanyByIdOrName(db, 'org_8')).toEqual(other);
    const eight = await insertCompany(db, { id: 'org_8', name: 'eight' });
    expect(await findCompanyByIdOrName(db, 'org_8')).toEqual(eight);
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
