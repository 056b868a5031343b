import { describe, expect } from 'vitest';
import { test } from '../support/fixtures.ts';
import { addRwa, markMinted } from './samples.ts';

describe('200', () => {
  test('has the data and the counters beside the fields of the list', async ({ service, acme }) => {
    const data = { warehouse: 'Port Ellen', litres: 220, years: [2019, null], nested: { ok: true } };
    const rwa = await addRwa(service.db, service.companies.acme, { data, description: 'A cask.' });
    const { body: listed } = await acme.get('/v1/api/rwa').expect(200);
    const { body } = await acme.get(`/v1/api/rwa/${rwa.id}`).expect(200);
    const claims = { claimPage: false, claimBaseUrl: null };
    const counts = { totalNfts: 0, claimedNfts: 0, unclaimedNfts: 0 };
    expect(body).toEqual({ ...listed.rwas[0], data, ...claims, ...counts });
  });

  test('has data null when there are none', async ({ service, acme }) => {
    const rwa = await addRwa(service.db, service.companies.acme);
    expect((await acme.get(`/v1/api/rwa/${rwa.id}`).expect(200)).body.data).toBeNull();
  });

  test('counts its NFTs: minted ones are claimed, all others are not', async ({ service, acme }) => {
    const rwa = await addRwa(service.db, service.companies.acme);
    const { body: made } = await acme.post(`/v1/api/rwa/${rwa.id}/nfts`).send({ count: 7 }).expect(200);
    await markMinted(service.db, made.nfts[0].id);
    await markMinted(service.db, made.nfts[4].id);
    const { body } = await acme.get(`/v1/api/rwa/${rwa.id}`).expect(200);
    expect(body).toMatchObject({ totalNfts: 7, claimedNfts: 2, unclaimedNfts: 5 });
  });

  test('does not count new NFTs as a change of the RWA, but a new name', async ({ service, acme }) => {
    const rwa = await addRwa(service.db, service.companies.acme);
    await acme.post(`/v1/api/rwa/${rwa.id}/nfts`).send({ count: 1 }).expect(200);
    const before = (await acme.get(`/v1/api/rwa/${rwa.id}`).expect(200)).body;
    expect(before.updatedAt).toBe(before.createdAt);
    await service.db('rwas').where({ id: rwa.id }).update({ name: 'Renamed' });
    const changed = service.db('rwas').where({ id: rwa.id }).whereRaw('updated_at > created_at');
    expect(await changed).toHaveLength(1);
  });
});
