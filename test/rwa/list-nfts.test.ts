import { describe, expect } from 'vitest';
import type { OperatorRwa } from '../../src/rwa/operators/rwa-admin-store.ts';
import { test } from '../support/fixtures.ts';
import type { Client } from '../support/service.ts';
import { addRwa, markMinted, recipient } from './samples.ts';

const rwas: OperatorRwa[] = [];
let foreign: OperatorRwa;

type Nft = { serial: string; rwaId: string };

// Two RWAs of three NFTs each, made in turns: the second of the first is minted, the third queued.
test.beforeAll(async ({ service, acme }) => {
  const { db, companies } = service;
  rwas.push(await addRwa(db, companies.acme, { name: 'First', claimBaseUrl: 'https://first.example' }));
  rwas.push(await addRwa(db, companies.acme, { name: 'Second', data: { not: 'shown' } }));
  foreign = await addRwa(db, companies.globex);
  const globex = service.as(service.keys.globex);
  await globex.post(`/v1/api/rwa/${foreign.id}/nfts`).send({ count: 2 }).expect(200);
  for (const { id } of [...rwas, ...rwas, ...rwas]) {
    await acme.post(`/v1/api/rwa/${id}/nfts`).send({ count: 1 }).expect(200);
  }
  const of = (serial: number) => db('nfts').where({ rwa_id: rwas[0]?.id, serial });
  await markMinted(db, (await of(2).first()).id);
  await of(3).update({ mint_state: 'queued', recipient });
});

const listed = async (acme: Client, query: string) => {
  const { body, headers } = await acme.get(`/v1/api/nft${query}`).expect(200);
  const place = ({ serial, rwaId }: Nft) => `${rwas.findIndex(({ id }) => id === rwaId)}/${Number(serial)}`;
  return { nfts: body.map(place), total: headers['x-total-count'] };
};

describe('200', () => {
  test('lists the NFTs of all RWAs of the company, by RWA and serial, and no others', async ({ acme }) => {
    const nfts = ['0/1', '0/2', '0/3', '1/1', '1/2', '1/3'];
    expect(await listed(acme, '')).toEqual({ nfts, total: '6' });
  });

  test('shows an NFT whose secret is damaged without it, and all others as ever', async ({ acme, db }) => {
    const before = (await acme.get('/v1/api/nft').expect(200)).body;
    const { id } = before[2];
    const { secret_cipher: sound } = await db('nfts').where({ id }).first('secret_cipher');
    await db('nfts')
      .where({ id })
      .update({ secret_cipher: Buffer.alloc(sound.length, 1) });
    const { body } = await acme.get('/v1/api/nft').expect(200);
    expect(body[2]).toMatchObject({ id, secret: '', url: before[2].url.replace(/#.*/, '') });
    expect(body.toSpliced(2, 1)).toEqual(before.toSpliced(2, 1));
    expect((await acme.get(`/v1/api/nft/${id}`).expect(200)).body.secret).toBe('');
    await db('nfts').where({ id }).update({ secret_cipher: sound });
  });

  test('has the RWA in each NFT, as the list of RWAs shows it', async ({ acme }) => {
    const { body } = await acme.get('/v1/api/nft').expect(200);
    const shown = (await acme.get('/v1/api/rwa').expect(200)).body.rwas;
    expect(body[0].rwa).toEqual(shown[0]);
    expect(body[5].rwa).toEqual(shown[1]);
    expect(body[0].url).toBe(`https://first.example/${body[0].id}#${body[0].secret}`);
    expect(body[5].url).toBe(`http://localhost:3000/claim/${body[5].id}#${body[5].secret}`);
  });

  test.for([
    ['?claimed=true', ['0/2']],
    ['?claimed=false', ['0/1', '0/3', '1/1', '1/2', '1/3']],
    ['?claimStatus=queued', ['0/3']],
    ['?claimed=true&claimStatus=queued', []],
    ['?updatedSince=2999-01-01T00:00:00Z', []],
    ['?updatedSince=2020-01-01T00:00:00Z&claimed=true', ['0/2']],
  ] as const)('filters by %s, and counts only what matches', async ([query, nfts], { acme }) => {
    expect(await listed(acme, query)).toEqual({ nfts, total: String(nfts.length) });
  });

  test('narrows the list to one RWA', async ({ acme }) => {
    expect(await listed(acme, `?rwaId=${rwas[1]?.id}`)).toEqual({ nfts: ['1/1', '1/2', '1/3'], total: '3' });
    expect(await listed(acme, `?rwaId=${rwas[0]?.id}&claimed=false`)).toEqual({
      nfts: ['0/1', '0/3'],
      total: '2',
    });
  });

  test('pages with limit and offset; the total stays that of all pages', async ({ acme }) => {
    expect(await listed(acme, '?limit=2&offset=2')).toEqual({ nfts: ['0/3', '1/1'], total: '6' });
    expect(await listed(acme, '?offset=6')).toEqual({ nfts: [], total: '6' });
  });
});
