import { describe, expect } from 'vitest';
import { setArchived } from '../../src/rwa/assets/rwa-change-store.ts';
import { test as base, perFile } from '../support/fixtures.ts';
import type { TestService } from '../support/service.ts';
import { queuedKeys, treasury } from './mint-requests.ts';
import { addRwa, recipient } from './samples.ts';

const test = base.extend('path', perFile, async ({ service }) => {
  const rwa = await addRwa(service.db, service.companies.acme, { isClaimable: true });
  return `/v1/api/rwa/${rwa.id}/mint`;
});

const nftsOf = (service: TestService, rwaId: string) => service.db('nfts').where({ rwa_id: rwaId });

describe('200', () => {
  test('makes an NFT with serial and secret and queues it', async ({ service, acme, path }) => {
    const data = { order: 'A-1007', lines: [{ 'x?': null }] };
    const { body } = await acme.post(path).send({ recipient, data }).expect(200);
    expect(body).toMatchObject({ status: 'queued', statusUrl: `/v1/api/nft/${body.nftId}` });
    const { body: nft } = await acme.get(body.statusUrl).expect(200);
    expect(nft).toMatchObject({ claimStatus: 'queued', recipient, data, mintedBlock: null });
    expect(nft.secret).toMatch(/^.{22,}$/);
    expect(await queuedKeys(service)).toContain(body.nftId);
  });

  test.for([[undefined], [{}], [{ recipient: null, data: null }]] as const)(
    'goes to the treasury with the body %j',
    async ([sent], { service, acme, path }) => {
      const sending = acme.post(path);
      const { body } = await (sent === undefined ? sending : sending.send(sent)).expect(200);
      const row = await service.db('nfts').where({ id: body.nftId }).first();
      expect(row).toMatchObject({ mint_state: 'queued', recipient: treasury, data: null });
    },
  );

  test('a repeated Idempotency-Key makes no second NFT', async ({ service, acme }) => {
    const own = await addRwa(service.db, service.companies.acme, { isClaimable: true });
    const send = () => acme.post(`/v1/api/rwa/${own.id}/mint`).set('Idempotency-Key', 'once').send({});
    const answers = await Promise.all(Array.from({ length: 20 }, send));
    const accepted = answers.filter(({ status }) => status === 200);
    expect(new Set(accepted.map(({ body }) => body.nftId)).size).toBe(1);
    expect(answers.every(({ status }) => status === 200 || status === 409)).toBe(true);
    expect((await send().expect(200)).headers['idempotency-replayed']).toBe('true');
    expect(await nftsOf(service, own.id)).toHaveLength(1);
  });

  test('calls side by side get serials without a gap, each with its job', async ({ service, acme }) => {
    const own = await addRwa(service.db, service.companies.acme, { isClaimable: true });
    const answers = await Promise.all(
      Array.from({ length: 40 }, () => acme.post(`/v1/api/rwa/${own.id}/mint`).send({}).expect(200)),
    );
    const rows = await nftsOf(service, own.id).orderBy('serial');
    expect(rows.map(({ serial }) => Number(serial))).toEqual(Array.from({ length: 40 }, (_, i) => i + 1));
    const keys = new Set(await queuedKeys(service));
    expect(answers.every(({ body }) => keys.has(body.nftId))).toBe(true);
  });
});

describe('400', () => {
  test('asks for a recipient where the company has no treasury, and makes nothing', async ({ service }) => {
    const own = await addRwa(service.db, service.companies.globex, { isClaimable: true });
    const globex = service.as(service.keys.globex);
    await service.db('companies').where({ id: service.companies.globex }).update({ treasury_address: null });
    const { body } = await globex.post(`/v1/api/rwa/${own.id}/mint`).send({}).expect(400);
    expect(body).toMatchObject({ code: 'recipient_required', detail: 'Recipient is required' });
    expect(await nftsOf(service, own.id)).toEqual([]);
  });
});

describe('409', () => {
  test('an RWA that is archived', async ({ service, acme }) => {
    const own = await addRwa(service.db, service.companies.acme, { isClaimable: true });
    await service.db.transaction((tx) => setArchived(tx, own, true));
    const { body } = await acme.post(`/v1/api/rwa/${own.id}/mint`).send({ recipient }).expect(409);
    expect(body.code).toBe('rwa_archived');
    expect(await nftsOf(service, own.id)).toEqual([]);
  });
});

describe('500', () => {
  test('leaves neither NFT nor serial when the job cannot be asked for', async ({ service, acme }) => {
    const own = await addRwa(service.db, service.companies.acme, { isClaimable: true });
    await service.parts.jobs.open();
    await service.db.raw('ALTER TABLE pgboss.job_common RENAME TO job_gone');
    await acme.post(`/v1/api/rwa/${own.id}/mint`).set('Idempotency-Key', 'broken').send({}).expect(500);
    await service.db.raw('ALTER TABLE pgboss.job_gone RENAME TO job_common');
    expect(await nftsOf(service, own.id)).toEqual([]);
    await acme.post(`/v1/api/rwa/${own.id}/mint`).set('Idempotency-Key', 'broken').send({}).expect(200);
    expect(await nftsOf(service, own.id)).toMatchObject([{ serial: '1' }]);
  });
});
