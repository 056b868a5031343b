import { describe, expect } from 'vitest';
import { test as base } from '../support/fixtures.ts';
import { addNft, addRwa, contractAddress, markMinted, serviceVault } from './samples.ts';

const test = base.extend('given', ({ service: { db, companies } }) => async () => {
  const { id, tokenId } = await addNft(db, serviceVault, await addRwa(db, companies.acme));
  return { id, tokenId, path: `/v1/api/nft/${id}` };
});

const attributes = [
  { trait_type: 'Bottle', value: '14 of 320' },
  { trait_type: 'Cask type', value: 'Sherry' },
];
const change = { data: { cellar: 4 }, attributes, imageUrl: 'https://images.example/14.jpg' };

describe('200', () => {
  test.for([false, true])(
    'changes an NFT, minted %s, and everybody reads the public part',
    async (isMinted, { service, acme, anyone, given }) => {
      const { id, tokenId, path } = await given();
      if (isMinted) await markMinted(service.db, id);
      const before = await acme.get(path).expect(200);
      const { body, headers } = await acme.patch(path).send(change).expect(200);
      expect(body).toEqual({ ...before.body, ...change, updatedAt: body.updatedAt });
      expect(headers['etag']).not.toBe(before.headers['etag']);
      expect((await acme.get(path).expect(200)).body).toEqual(body);
      const entries = await service.db('audit_log').where({ subject: id, action: 'nft.update' });
      expect(entries).toMatchObject([{ details: { fields: ['data', 'attributes', 'imageUrl'] } }]);
      if (!isMinted) await markMinted(service.db, id);
      const metadata = await anyone.get(`/v1/api/metadata/31337/${contractAddress}/${tokenId}`).expect(200);
      expect(metadata.body.image).toBe(change.imageUrl);
      expect(metadata.body.attributes.slice(-2)).toEqual(attributes);
      expect(metadata.text).not.toContain('cellar');
    },
  );

  test('clears with null, and keeps what is absent', async ({ acme, given }) => {
    const { path } = await given();
    await acme.patch(path).send(change).expect(200);
    const { body } = await acme.patch(path).send({ data: null, attributes: null }).expect(200);
    expect(body).toMatchObject({ data: null, attributes: null, imageUrl: change.imageUrl });
  });

  test('takes a record that was read, edited and sent back', async ({ acme, given }) => {
    const { path } = await given();
    const { body: read } = await acme.get(path).expect(200);
    const { body } = await acme
      .patch(path)
      .send({ ...read, data: { cellar: 5 } })
      .expect(200);
    expect(body).toEqual({ ...read, data: { cellar: 5 }, updatedAt: body.updatedAt });
  });
});

test.for<[string, object]>([
  ...[
    ' serial ',
    'ISSUER',
    'Se\u200brial',
    'Ѕеrіаl', // Cyrillic Ѕ, е, і and а
    'Ｔｙｐｅ', // full width
    'ТУРЕ', // Cyrillic capitals
    'lssuer', // a small L
    'T\u2800ype',
  ].map((trait_type): [string, object] => ['/attributes', { attributes: [{ trait_type, value: '1' }] }]),
  ['/imageUrl', { imageUrl: 'javascript:alert(1)' }],
  ['/imageUrl', { imageUrl: 'http://[' }],
])('400 names %s of %j', async ([pointer, sent], { acme, given }) => {
  const { path } = await given();
  const { body } = await acme.patch(path).send(sent).expect(400);
  expect(body.errors[0].pointer).toBe(pointer);
});

test('takes names that look like nothing of the service', async ({ acme, given }) => {
  const { path } = await given();
  const names = ['Cask type', 'Serials', 'Тип', 'Série', '\u0399\u03a3'];
  const attributes = names.map((trait_type) => ({ trait_type, value: '1' }));
  const { body } = await acme.patch(path).send({ attributes }).expect(200);
  expect(body.attributes).toEqual(attributes);
});

test('412 for another version, while a mint leaves the tag as it is', async ({ service, acme, given }) => {
  const { id, path } = await given();
  const tag = (await acme.get(path).expect(200)).headers['etag'] ?? '';
  await markMinted(service.db, id);
  await acme.patch(path).set('if-match', tag).send(change).expect(200);
  const { body } = await acme.patch(path).set('if-match', tag).send({ data: null }).expect(412);
  expect(body.code).toBe('precondition_failed');
});
