import { describe, expect } from 'vitest';
import { type CompanyStore, createCompanyStore } from '../../src/keys/company-store.ts';
import { test } from '../support/fixtures.ts';

const treasuryAddress = `0x${'ab'.repeat(20)}`;
let companies: CompanyStore;

test.beforeAll(async ({ database }) => {
  companies = createCompanyStore({ db: database.db });
});

describe('a company', () => {
  test('is made with a generated id, and found by id and by name', async () => {
    const made = await companies.create({
      name: 'acme',
      treasuryAddress,
      claimBaseUrl: 'https://acme.example',
    });
    expect(made).toMatchObject({ name: 'acme', treasuryAddress, claimBaseUrl: 'https://acme.example' });
    expect(await companies.find(made.id)).toEqual(made);
    expect(await companies.find('acme')).toEqual(made);
    expect(await companies.findById(made.id)).toEqual(made);
    expect(await companies.find('nobody')).toBeUndefined();
  });

  test('may have the id that another service gave it', async () => {
    expect(await companies.create({ id: 'org_7', name: 'seven' })).toMatchObject({ id: 'org_7' });
  });

  test('is found by id before another is found by name, and by id alone where a key decides', async () => {
    const other = await companies.create({ name: 'org_8' });
    expect(await companies.findById('org_8')).toBeUndefined();
    expect(await companies.find('org_8')).toEqual(other);
    const eight = await companies.create({ id: 'org_8', name: 'eight' });
    expect(await companies.find('org_8')).toEqual(eight);
  });

  test('is refused when its name or id is taken', async () => {
    await companies.create({ id: 'org_9', name: 'nine' });
    await expect(companies.create({ name: 'nine' })).rejects.toThrow('exists already');
    await expect(companies.create({ id: 'org_9', name: 'ninth' })).rejects.toThrow('exists already');
    await expect(companies.update('org_7', { name: 'nine' })).rejects.toThrow('exists already');
  });

  test('is changed only where something is given, and cleared by null', async () => {
    const { id } = await companies.create({ name: 'changing', treasuryAddress });
    const claimBaseUrl = 'https://claims.example';
    expect(await companies.update(id, { claimBaseUrl })).toMatchObject({ treasuryAddress, claimBaseUrl });
    const cleared = { name: 'changed', treasuryAddress: null, claimBaseUrl };
    expect(await companies.update(id, { name: 'changed', treasuryAddress: null })).toMatchObject(cleared);
    expect(await companies.update('nobody', { name: 'x' })).toBeUndefined();
  });

  test('stands in the list by name', async () => {
    const names = (await companies.list()).map(({ name }) => name);
    expect(names).toEqual([...names].sort());
    expect(names).toContain('acme');
  });

  test('takes no treasury address that is none', async () => {
    await expect(companies.create({ name: 'bad', treasuryAddress: '0x12' })).rejects.toThrow(/check/);
  });
});
