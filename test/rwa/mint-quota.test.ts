import { describe, expect, vi } from 'vitest';
import type { Database } from '../../src/contract/transaction.ts';
import {
  findCompanyLimits,
  setGasBudget,
  setMintQuota,
} from '../../src/rwa/operators/company-limit-store.ts';
import { test } from '../support/fixtures.ts';
import type { TestService } from '../support/service.ts';
import { addMintable } from './mint-requests.ts';
import { addNfts, addRwa, serviceVault } from './samples.ts';

const limit = ({ db, companies }: TestService, mints: number | null) =>
  db.transaction(async (tx) => {
    await setMintQuota(tx, companies.acme, mints);
    await tx('company_mint_days').delete();
  });
const accepted = async ({ db, companies }: TestService) =>
  Number((await findCompanyLimits(db, companies.acme)).acceptedToday);

/** The status of an answer; who is told to come again, since so many ask at once or the same request is under way, does so. */
const answered = (send: () => PromiseLike<{ status: number }>) =>
  vi.waitFor(
    async () => {
      const { status } = await send();
      expect([409, 503]).not.toContain(status);
      return status;
    },
    { timeout: 60_000, interval: 100 },
  );

const signer = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
let nonces = 0;

/** A transaction of the NFT that has cost 100 wei, the last of the network. */
async function payFor(
  db: Database,
  nft: { readonly id: string } | undefined,
  state: 'minted' | 'failed',
): Promise<void> {
  if (nft === undefined) throw new Error('no NFT was made');
  await db('mint_lanes').insert({ chain_id: 31337, signer }).onConflict().ignore();
  const lane = { chain_id: 31337, signer, contract: signer, gas_limit: 1, fence: 1 };
  const [{ id }] = await db('mint_transactions')
    .insert({ ...lane, nonce: nonces++, cost: '100' })
    .returning('id');
  await db('mint_transaction_nfts').insert({
    transaction_id: id,
    nft_id: nft.id,
    state,
    recipient: signer,
    token_id: '1',
  });
}

/** Lets acme's budget have room for so many further mints; null for no budget. */
async function allowGas({ db, companies }: TestService, mints: number | null): Promise<void> {
  await db('company_gas_days').delete();
  const [row] = await db('nfts')
    .where({ company_id: companies.acme, mint_chain_id: 31337 })
    .whereIn('mint_state', ['queued', 'submitted'])
    .count();
  const weiPerDay = mints === null ? null : (BigInt(row?.['count'] ?? 0) + BigInt(mints)) * 100n;
  await db.transaction((tx) => setGasBudget(tx, companies.acme, { chainId: '31337', weiPerDay }));
}

describe('a company with a quota of mints a day', () => {
  test('is 429 beyond it until the next day, and nothing is changed', async ({ service, acme, globex }) => {
    const { rwa, nft, path, secret } = await addMintable(service);
    await limit(service, 1);
    await acme.post(`/v1/api/rwa/${rwa.id}/mint`).send({}).expect(200);
    const { body, headers } = await acme.post(path).send({ secret }).expect(429);
    expect(body).toMatchObject({ code: 'mint_quota_exceeded', detail: 'Mint quota exceeded' });
    const untilMidnight = 86_400 - (Math.floor(Date.now() / 1_000) % 86_400);
    expect(Math.abs(Number(headers['retry-after']) - untilMidnight)).toBeLessThan(60);
    const { body: after } = await acme.get(`/v1/api/nft/${nft.id}`).expect(200);
    expect(after).toMatchObject({ claimStatus: 'unclaimed', recipient: null });
    const [before] = await service.db('rwas').where({ id: rwa.id });
    await acme.post(`/v1/api/rwa/${rwa.id}/mint`).send({}).expect(429);
    expect((await service.db('rwas').where({ id: rwa.id }))[0].total_nfts).toBe(before.total_nfts);
    const foreign = await addMintable(service, 'globex');
    await globex.post(foreign.path).send({ secret: foreign.secret }).expect(200);
    await limit(service, null);
    await acme.post(path).send({ secret }).expect(200);
  });

  test('a wrong secret is told before it, and what was accepted is not counted again', async ({
    service,
    acme,
  }) => {
    const { path, secret } = await addMintable(service);
    const other = await addMintable(service);
    await limit(service, 1);
    await acme.post(path).set('idempotency-key', 'quota').send({ secret }).expect(200);
    await acme.post(path).set('idempotency-key', 'quota').send({ secret }).expect(200);
    await acme.post(path).send({ secret }).expect(200);
    expect(await accepted(service)).toBe(1);
    await acme.post(other.path).send({ secret: 'wrong' }).expect(400);
    await acme.post(other.path).send({ secret: other.secret }).expect(429);
  });

  test('never has more accepted, however many ask at once, of both operations and processes', async ({
    service,
    acme,
  }) => {
    const rwa = await addRwa(service.db, service.companies.acme, { isClaimable: true });
    const nfts = await addNfts(service.db, serviceVault, rwa, 60);
    await limit(service, 37);
    const twin = await service.twin();
    const clients = [acme, twin.as(service.keys.acme)];
    const asked = nfts.flatMap((nft, index) => {
      const client = clients[index % 2] ?? acme;
      const secret = serviceVault.open(nft.id, nft.sealed);
      const mint = () => client.post(`/v1/api/nft/${nft.id}/mint`).send({ secret });
      const create = () => client.post(`/v1/api/rwa/${rwa.id}/mint`).send({});
      return [mint, mint, ...(index % 3 === 0 ? [create] : [])].map(answered);
    });
    const statuses = await Promise.all(asked);
    expect(new Set(statuses)).toEqual(new Set([200, 429]));
    const [queued] = await service.db('nfts').where({ rwa_id: rwa.id, mint_state: 'queued' }).count();
    expect([queued, await accepted(service)]).toEqual([{ count: '37' }, 37]);
    await twin.close();
  });
});

describe('a company with a budget for gas', () => {
  test('is 429 once what its mints cost today has used it up, on that network', async ({ service, acme }) => {
    const { db, companies } = service;
    const { path, secret } = await addMintable(service);
    await limit(service, null);
    const day = db.raw("(clock_timestamp() AT TIME ZONE 'UTC')::date");
    await db('company_gas_days').insert({ company_id: companies.acme, chain_id: 31337, day, wei: '999' });
    await db.transaction((tx) => setGasBudget(tx, companies.acme, { chainId: '31337', weiPerDay: 999n }));
    const { body } = await acme.post(path).send({ secret }).expect(429);
    expect(body.code).toBe('mint_quota_exceeded');
    await db.transaction((tx) => setGasBudget(tx, companies.acme, { chainId: '31337', weiPerDay: 1_000n }));
    await acme.post(path).send({ secret }).expect(200);
  });

  test('has what is on its way counted at the price of the last mint, also while nothing is sent', async ({
    service,
    acme,
  }) => {
    const { db, companies } = service;
    await limit(service, null);
    const rwa = await addRwa(db, companies.acme, { isClaimable: true });
    const [minted, ...nfts] = await addNfts(db, serviceVault, rwa, 8);
    await payFor(db, minted, 'minted');
    await allowGas(service, 3);
    const mint = ({ id: nftId, sealed }: (typeof nfts)[number]) =>
      answered(() =>
        acme.post(`/v1/api/nft/${nftId}/mint`).send({ secret: serviceVault.open(nftId, sealed) }),
      );
    const statuses: number[] = [];
    for (const nft of nfts.slice(0, 5)) statuses.push(await mint(nft));
    expect(statuses).toEqual([200, 200, 200, 429, 429]);
    await allowGas(service, 1);
    const further: number[] = [];
    for (const nft of nfts.slice(3)) further.push(await mint(nft));
    expect(further).toEqual([200, 429, 429, 429]);
    await allowGas(service, null);
  });

  test('has 100 on their way while no mint of the network has said what one costs', async ({
    service,
    acme,
  }) => {
    const { db, companies } = service;
    await limit(service, null);
    await allowGas(service, 1_000_000);
    await db('mint_transactions').update({ cost: null });
    const [first, other] = [await addMintable(service), await addMintable(service)];
    const waiting = { company_id: companies.acme, mint_chain_id: 31337, mint_state: 'queued' };
    const [before] = await db('nfts').where(waiting).count();
    const asset = await addRwa(db, companies.acme, { isClaimable: true });
    await addNfts(db, serviceVault, asset, 99 - Number(before?.['count']));
    const queued = { mint_state: 'queued', recipient: signer, mint_chain_id: 31337, queued_at: db.fn.now() };
    await db('nfts').where({ rwa_id: asset.id }).update(queued);
    await acme.post(first.path).send({ secret: first.secret }).expect(200);
    const { body, headers } = await acme.post(other.path).send({ secret: other.secret }).expect(429);
    expect(body.code).toBe('mint_quota_exceeded');
    expect(Number(headers['retry-after'])).toBeLessThanOrEqual(60);
    await payFor(db, first.nft, 'minted');
    await acme.post(other.path).send({ secret: other.secret }).expect(200);
    await allowGas(service, null);
  });

  test('has room for any number where mints cost nothing', async ({ service, acme }) => {
    const { db } = service;
    const { nft, path, secret } = await addMintable(service);
    await limit(service, null);
    await payFor(db, nft, 'failed');
    await db('mint_transactions').update({ cost: '0' });
    await db.transaction((tx) =>
      setGasBudget(tx, service.companies.acme, { chainId: '31337', weiPerDay: 1n }),
    );
    await acme.post(path).send({ secret }).expect(200);
    await allowGas(service, null);
  });

  test('has what was queued again counted, though an attempt before was paid for', async ({
    service,
    acme,
  }) => {
    const { db } = service;
    await limit(service, null);
    const [first, second] = [await addMintable(service), await addMintable(service)];
    await payFor(db, first.nft, 'failed');
    await allowGas(service, 1);
    await acme.post(first.path).send({ secret: first.secret }).expect(200);
    await acme.post(second.path).send({ secret: second.secret }).expect(429);
    await allowGas(service, null);
  });

  test('has no more accepted than it has room for, however many ask at once, of both operations and processes', async ({
    service,
    acme,
  }) => {
    const { db, companies, keys } = service;
    await limit(service, null);
    const rwa = await addRwa(db, companies.acme, { isClaimable: true });
    const [minted, ...nfts] = await addNfts(db, serviceVault, rwa, 16);
    await payFor(db, minted, 'minted');
    await allowGas(service, 7);
    const twin = await service.twin();
    const clients = [acme, twin.as(keys.acme)];
    const asked = nfts.flatMap(({ id, sealed }, index) => {
      const client = clients[index % 2] ?? acme;
      const secret = serviceVault.open(id, sealed);
      const mint = () =>
        client.post(`/v1/api/nft/${id}/mint`).set('idempotency-key', `gas ${id}`).send({ secret });
      const create = () => client.post(`/v1/api/rwa/${rwa.id}/mint`).send({});
      // One in three sends its request once more, as who has lost the answer does.
      return (index % 3 === 0 ? [mint, create, mint] : [mint]).map(answered);
    });
    const statuses = await Promise.all(asked);
    expect(new Set(statuses)).toEqual(new Set([200, 429]));
    const queued = await db('nfts').where({ rwa_id: rwa.id, mint_state: 'queued' }).pluck('id');
    expect(queued).toHaveLength(7);
    await twin.close();
    await allowGas(service, null);
  });
});
