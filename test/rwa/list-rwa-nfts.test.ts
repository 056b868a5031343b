import { describe, expect } from 'vitest';
import type { OperatorRwa } from '../../src/rwa/operators/rwa-admin-store.ts';
import { test } from '../support/fixtures.ts';
import type { Client } from '../support/service.ts';
import { addRwa, markMinted, mintedTx, recipient } from './samples.ts';

let rwa: OperatorRwa;

// Serials 1 to 6: minted, queued, submitted, failed, unclaimed, unclaimed.
test.beforeAll(async ({ service, acme }) => {
  const { db, companies } = service;
  rwa = await addRwa(db, companies.acme);
  const other = await addRwa(db, companies.acme);
  for (const { id } of [rwa, other]) {
    await acme.post(`/v1/api/rwa/${id}/nfts`).send({ count: 6 }).expect(200);
  }
  const set = (serial: number, values: object) => db('nfts').where({ rwa_id: rwa.id, serial }).update(values);
  await markMinted(db, (await db('nfts').where({ rwa_id: rwa.id, serial: 1 }).first()).id);
  await set(2, { mint_state: 'queued', recipient });
  await set(3, { mint_state: 'submitted', recipient });
  await set(4, { mint_state: 'failed', recipient, mint_error: 'The contract refuses it.' });
  await db('nfts').update({ updated_at: new Date('2025-01-01T00:00:00Z') });
  await set(5, { updated_at: new Date('2025-02-01T00:00:00.500Z') });
});

const listed = async (acme: Client, query: string) => {
  const { body, headers } = await acme.get(`/v1/api/rwa/${rwa.id}/nfts${query}`).expect(200);
  return {
    serials: body.map(({ serial }: { serial: string }) => Number(serial)),
    total: headers['x-total-count'],
  };
};

describe('200', () => {
  test('lists the NFTs of this RWA only, by serial', async ({ acme }) => {
    expect(await listed(acme, '')).toEqual({ serials: [1, 2, 3, 4, 5, 6], total: '6' });
  });

  test('shows secret, url and claim status, and what a mint leaves', async ({ acme }) => {
    const { body } = await acme.get(`/v1/api/rwa/${rwa.id}/nfts?limit=4`).expect(200);
    expect(body[0]).toMatchObject({
      rwaId: rwa.id,
      serial: '000001',
      secret: expect.stringMatching(/^[A-Za-z0-9_-]{22,}$/),
      url: expect.stringContaining(`/${body[0].id}#${body[0].secret}`),
      claimStatus: 'minted',
      recipient,
      mintedAt: '2027-03-02T10:15:30.250Z',
      mintedTx,
      mintedBlock: '1042',
    });
    expect(body[0]).not.toHaveProperty('rwa');
    expect(body[2]).toMatchObject({ claimStatus: 'submitted', recipient, mintedAt: null, mintedTx: null });
    expect(body[3]).toMatchObject({ claimStatus: 'failed', mintError: 'The contract refuses it.' });
  });

  test.for([
    ['?claimed=true', [1]],
    ['?claimed=false', [2, 3, 4, 5, 6]],
    ['?claimStatus=unclaimed', [5, 6]],
    ['?claimStatus=queued', [2]],
    ['?claimStatus=submitted', [3]],
    ['?claimStatus=minted', [1]],
    ['?claimStatus=failed', [4]],
    ['?claimed=false&claimStatus=failed', [4]],
    ['?updatedSince=2025-02-01T00:00:00.500Z', [5]],
    ['?updatedSince=2025-02-01', [5]],
    ['?updatedSince=2025-02-01T00:00:00.501Z', []],
    ['?updatedSince=2024-12-31T00:00:00Z&claimed=true', [1]],
  ] as const)('filters by %s, and counts only what matches', async ([query, serials], { acme }) => {
    expect(await listed(acme, query)).toEqual({ serials, total: String(serials.length) });
  });

  test.for(['?claimed=true&claimStatus=queued', '?claimed=false&claimStatus=minted'])(
    'gives an empty list for filters that contradict each other: %s',
    async (query, { acme }) => {
      expect(await listed(acme, query)).toEqual({ serials: [], total: '0' });
    },
  );

  test('pages with limit and offset; the total stays that of all pages', async ({ acme }) => {
    expect(await listed(acme, '?limit=2&offset=3')).toEqual({ serials: [4, 5], total: '6' });
    expect(await listed(acme, '?offset=6')).toEqual({ serials: [], total: '6' });
    expect(await listed(acme, '?claimed=false&limit=1&offset=1')).toEqual({ serials: [3], total: '5' });
  });

  test('gives 50 unless told otherwise, and 200 at most', async ({ service, acme }) => {
    const many = await addRwa(service.db, service.companies.acme);
    const path = `/v1/api/rwa/${many.id}/nfts`;
    for (const count of [100, 100, 5]) await acme.post(path).send({ count }).expect(200);
    expect((await acme.get(path).expect(200)).body).toHaveLength(50);
    const { body, headers } = await acme.get(`${path}?limit=200`).expect(200);
    expect(body).toHaveLength(200);
    expect(headers['x-total-count']).toBe('205');
  });

  test('marks an NFT as changed when its mint goes on', async ({ service, acme }) => {
    const since = new Date().toISOString();
    await service.db('nfts').where({ rwa_id: rwa.id, serial: 6 }).update({ mint_state: 'queued' });
    expect(await listed(acme, `?updatedSince=${since}`)).toEqual({ serials: [6], total: '1' });
    await service.db('nfts').where({ rwa_id: rwa.id, serial: 6 }).update({ mint_state: 'unclaimed' });
  });
});

test('400: rejects a day that the calendar does not have', async ({ acme }) => {
  const { body } = await acme.get(`/v1/api/rwa/${rwa.id}/nfts?updatedSince=2027-02-30`).expect(400);
  expect(body.errors).toMatchObject([{ in: 'query', name: 'updatedSince' }]);
});
