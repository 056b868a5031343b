import { describe, expect } from 'vitest';
import { setArchived } from '../../src/rwa/assets/rwa-change-store.ts';
import { test } from '../support/fixtures.ts';
import type { Client } from '../support/service.ts';
import { addRwa } from './samples.ts';

const ids: string[] = [];

// By creation: wine, whisky buyable, whisky claimable, whisky both; and one of another company.
test.beforeAll(async ({ service }) => {
  const { db, companies } = service;
  const whisky = { type: 'whisky' };
  for (const more of [
    { type: 'wine', price: '12.50', currency: 'EUR', data: { not: 'in the list' } },
    { ...whisky, isBuyable: true },
    { ...whisky, isClaimable: true },
    { ...whisky, isBuyable: true, isClaimable: true },
  ]) {
    ids.push((await addRwa(db, companies.acme, more)).id);
  }
  await addRwa(db, companies.globex, whisky);
});

const listed = async (acme: Client, query: string) => {
  const { body } = await acme.get(`/v1/api/rwa${query}`).expect(200);
  const { cursor: _, ...page } = body;
  return { ...page, rwas: body.rwas.map(({ id }: { id: string }) => ids.indexOf(id)) };
};

describe('200', () => {
  test('lists the RWAs of the company of the key by creation, and no others', async ({ acme }) => {
    expect(await listed(acme, '')).toEqual({ total: 4, limit: 50, offset: 0, rwas: [0, 1, 2, 3] });
  });

  test('has every field of an RWA, unset ones as null, and nothing of the detail', async ({
    service,
    acme,
  }) => {
    const { body } = await acme.get('/v1/api/rwa?type=wine').expect(200);
    expect(body.rwas).toEqual([
      {
        id: ids[0],
        companyId: service.companies.acme,
        name: 'Cask 17',
        description: null,
        type: 'wine',
        imageUrl: null,
        chainId: 31337,
        contractAddress: '0x5FbDB2315678afecb367f032d93F642f64180aa3',
        isBuyable: false,
        isClaimable: false,
        claimPage: false,
        price: '12.50',
        currency: 'EUR',
        archivedAt: null,
        createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
        updatedAt: expect.any(String),
      },
    ]);
  });

  test.for([
    ['?type=whisky', [1, 2, 3]],
    ['?type=Whisky', []],
    ['?isBuyable=true', [1, 3]],
    ['?isBuyable=false', [0, 2]],
    ['?type=&isBuyable=&isClaimable=', [0, 1, 2, 3]],
    ['?isClaimable=true', [2, 3]],
    ['?isClaimable=false', [0, 1]],
    ['?type=whisky&isBuyable=true&isClaimable=false', [1]],
  ] as const)('filters by %s, and counts only what matches', async ([query, rwas], { acme }) => {
    expect(await listed(acme, query)).toEqual({ total: rwas.length, limit: 50, offset: 0, rwas });
  });

  test('pages with limit and offset; total stays that of all pages', async ({ acme }) => {
    expect(await listed(acme, '?limit=2')).toEqual({ total: 4, limit: 2, offset: 0, rwas: [0, 1] });
    expect(await listed(acme, '?limit=2&offset=2')).toEqual({ total: 4, limit: 2, offset: 2, rwas: [2, 3] });
    expect(await listed(acme, '?offset=3&type=whisky')).toEqual({ total: 3, limit: 50, offset: 3, rwas: [] });
  });

  test('leaves archived RWAs out, and out of the total, unless they are asked for', async ({
    service,
    acme,
  }) => {
    const archive = (isArchived: boolean) =>
      service.db.transaction((tx) =>
        setArchived(tx, { companyId: service.companies.acme, id: String(ids[1]) }, isArchived),
      );
    expect(await archive(true)).toBe(true);
    expect(await listed(acme, '')).toMatchObject({ total: 3, rwas: [0, 2, 3] });
    expect(await listed(acme, '?includeArchived=false&offset=1')).toMatchObject({ total: 3, rwas: [2, 3] });
    expect(await listed(acme, '?type=whisky&isBuyable=true')).toMatchObject({ total: 1, rwas: [3] });
    expect(await listed(acme, '?includeArchived=true')).toMatchObject({ total: 4, rwas: [0, 1, 2, 3] });
    const asked = '?type=whisky&isBuyable=true&includeArchived=true';
    expect(await listed(acme, asked)).toMatchObject({ total: 2, rwas: [1, 3] });
    const { body } = await acme.get(`/v1/api/rwa/${ids[1]}`).expect(200);
    expect(body.createdAt < body.archivedAt && body.archivedAt <= body.updatedAt).toBe(true);
    expect(await archive(false)).toBe(true);
    expect(await listed(acme, '')).toMatchObject({ total: 4, rwas: [0, 1, 2, 3] });
  });

  test('goes on from page to page with archived RWAs, or without, as the first page was asked for', async ({
    service,
    acme,
  }) => {
    await service.db.transaction((tx) =>
      setArchived(tx, { companyId: service.companies.acme, id: String(ids[1]) }, true),
    );
    const { cursor } = (await acme.get('/v1/api/rwa?limit=1&includeArchived=true').expect(200)).body;
    const next = await listed(acme, `?limit=2&includeArchived=true&cursor=${cursor}`);
    expect(next).toMatchObject({ total: 4, rwas: [1, 2] });
    const { body } = await acme.get(`/v1/api/rwa?limit=2&cursor=${cursor}`).expect(400);
    expect(body.code).toBe('cursor_invalid');
    await service.db.transaction((tx) =>
      setArchived(tx, { companyId: service.companies.acme, id: String(ids[1]) }, false),
    );
  });
});
