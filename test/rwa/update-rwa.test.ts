import { randomUUID } from 'node:crypto';
import { describe, expect } from 'vitest';
import { perFile } from '../support/fixtures.ts';
import { test as base } from '../support/mint-fixtures.ts';
import { withoutNodes } from './mint-requests.ts';
import { addRwa } from './samples.ts';

const test = base
  .extend('acme', perFile, ({ mintService }) => mintService.as(mintService.keys.acme))
  .extend('given', perFile, ({ mintService, mintChain }) => async (more: object = {}) => {
    const { id } = await addRwa(mintService.db, mintService.companies.acme, {
      contractAddress: mintChain.contract,
      ...more,
    });
    return `/v1/api/rwa/${id}`;
  });

const other = `0x${'2'.repeat(40)}`;
const unknown = `/v1/api/rwa/${randomUUID()}`;

test.beforeAll(({ mintChain }) => mintChain.call('anvil_setCode', other, '0x00'));

describe('200', () => {
  test('changes what is sent, keeps what is absent, clears with null', async ({
    mintService,
    acme,
    given,
  }) => {
    const path = await given({ description: 'Old', price: '10.00', currency: 'EUR', data: { litres: 220 } });
    const before = await acme.get(path).expect(200);
    const change = {
      name: 'Cask 19',
      price: '12.50',
      description: null,
      data: { litres: 221 },
      claimPage: true,
    };
    const { body, headers } = await acme.patch(path).send(change).expect(200);
    expect(body).toEqual({ ...before.body, ...change, updatedAt: body.updatedAt });
    expect(headers['etag']).not.toBe(before.headers['etag']);
    expect((await acme.get(path).expect(200)).body).toEqual(body);
    const [entry] = await mintService.db('audit_log').where({ subject: body.id });
    expect(entry).toMatchObject({ action: 'rwa.update', actor_kind: 'key' });
    expect(entry.details.fields.toSorted()).toEqual(Object.keys(change).toSorted());
  });

  test('archives and puts back, and mints are rejected in between', async ({ mintService, acme, given }) => {
    const path = await given({ isClaimable: true });
    const archived = await acme.patch(path).send({ archived: true }).expect(200);
    expect(Date.parse(archived.body.archivedAt)).toBeGreaterThan(0);
    expect((await acme.post(`${path}/mint`).send({}).expect(409)).body.code).toBe('rwa_archived');
    const back = await acme.patch(path).send({ archived: false }).expect(200);
    expect(back.body.archivedAt).toBeNull();
    await acme.post(`${path}/mint`).send({}).expect(200);
    const { id } = archived.body;
    const entries = await mintService.db('audit_log').where({ subject: id }).orderBy('id').pluck('action');
    expect(entries.slice(0, 2)).toEqual(['rwa.archive', 'rwa.unarchive']);
  });

  test.for([undefined, {}, { name: 'Cask 17', description: null, archived: false }])(
    'leaves the RWA, its tag and the audit log alone when %j changes nothing',
    async (change, { mintService, acme, given }) => {
      const path = await given();
      const before = await acme.get(path).expect(200);
      const sent = acme.patch(path);
      const { body, headers } = await (change === undefined ? sent : sent.send(change)).expect(200);
      expect(body).toEqual(before.body);
      expect(headers['etag']).toBe(before.headers['etag']);
      expect(await mintService.db('audit_log').where({ subject: body.id })).toEqual([]);
    },
  );

  test('takes a record that was read, edited and sent back', async ({ acme, given }) => {
    const path = await given({ data: { litres: 1 } });
    const { body: read } = await acme.get(path).expect(200);
    const { body } = await acme
      .patch(path)
      .send({ ...read, companyId: 'other', totalNfts: 9, name: 'Cask 20' })
      .expect(200);
    expect(body).toEqual({ ...read, name: 'Cask 20', updatedAt: body.updatedAt });
  });

  test('keeps its tag while NFTs are created, so an edit is not rejected for them', async ({
    acme,
    given,
  }) => {
    const path = await given();
    const { headers } = await acme.get(path).expect(200);
    await acme.post(`${path}/nfts`).send({ count: 3 }).expect(200);
    const tag = headers['etag'] ?? '';
    await acme.patch(path).set('if-match', tag).send({ name: 'Cask 21' }).expect(200);
    await acme.patch(path).set('if-match', tag).send({ name: 'Cask 22' }).expect(412);
  });

  test('changes contract and network before the first NFT', async ({ acme, given }) => {
    const path = await given();
    const { body } = await acme.patch(path).send({ contractAddress: other }).expect(200);
    expect(body.contractAddress).toBe(other);
  });
});

describe('400', () => {
  test('keeps contract and network once there is an NFT', async ({ acme, given }) => {
    const path = await given();
    await acme.post(`${path}/nfts`).send({ count: 1 }).expect(200);
    const { body } = await acme.patch(path).send({ contractAddress: other, name: 'Other' }).expect(400);
    expect(body.errors).toMatchObject([{ pointer: '/contractAddress' }]);
    expect(body.detail).toMatch(/^contractAddress cannot change: the RWA has NFTs/);
    expect((await acme.get(path).expect(200)).body.name).toBe('Cask 17');
  });

  test('the database keeps them, too, whoever writes', async ({ mintService, acme, given }) => {
    const path = await given();
    await acme.post(`${path}/nfts`).send({ count: 1 }).expect(200);
    const id = path.split('/').at(-1);
    const write = mintService.db('rwas').where({ id }).update({ contract_address: other });
    await expect(write).rejects.toThrow('its network and contract cannot change');
  });

  test('does not become claimable on a contract that is none that mints', async ({ acme, given }) => {
    const change = { contractAddress: other, isClaimable: true };
    const { body } = await acme
      .patch(await given())
      .send(change)
      .expect(400);
    expect(body.errors[0].pointer).toBe('/contractAddress');
  });
});

test('404 for an RWA that is unknown, with or without a change', async ({ acme }) => {
  for (const change of [{}, { name: 'Other' }]) await acme.patch(unknown).send(change).expect(404);
});

test('409 for a contract of another company', async ({ mintService, mintChain, acme, given }) => {
  const theirs = `0x${'3'.repeat(40)}`;
  await mintChain.call('anvil_setCode', theirs, '0x00');
  await addRwa(mintService.db, mintService.companies.globex, { contractAddress: theirs });
  const { body } = await acme
    .patch(await given())
    .send({ contractAddress: theirs })
    .expect(409);
  expect(body.code).toBe('contract_taken');
});

test('503 changes nothing when no node answers about the contract', async ({ mintService, acme, given }) => {
  const path = await given();
  const { body } = await withoutNodes(mintService, async () => {
    // What does not concern the contract needs no node.
    await acme.patch(path).send({ name: 'Renamed' }).expect(200);
    return acme.patch(path).send({ isClaimable: true }).expect(503);
  });
  expect(body.code).toBe('contract_unverified');
  const after = await acme.patch(path).send({ isClaimable: true }).expect(200);
  expect(after.body).toMatchObject({ isClaimable: true, name: 'Renamed' });
});
