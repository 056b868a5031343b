import { describe, expect } from 'vitest';
import { perFile } from '../support/fixtures.ts';
import { test as base } from '../support/mint-fixtures.ts';
import { withoutNodes } from './mint-requests.ts';
import { addNetwork, addRwa } from './samples.ts';

const test = base
  .extend('acme', perFile, ({ mintService }) => mintService.as(mintService.keys.acme))
  .extend('globex', perFile, ({ mintService }) => mintService.as(mintService.keys.globex));

const path = '/v1/api/rwa';
const minimal = { name: 'Cask 18', type: 'whisky', chainId: 31337 };
const full = {
  ...minimal,
  description: 'A cask.',
  imageUrl: 'https://images.example/18.jpg',
  isBuyable: true,
  isClaimable: true,
  price: '1250.00',
  currency: 'EUR',
  data: { litres: 220 },
  claimPage: true,
  claimBaseUrl: 'https://acme.example/claim',
};
/** An address with code that is no NFT contract. */
const other = `0x${'2'.repeat(40)}`;

test.beforeAll(async ({ mintChain, mintService }) => {
  await mintChain.call('anvil_setCode', other, '0x00');
  await addNetwork(mintService.db, '137');
});

describe('201', () => {
  test('creates an RWA that the company reads, with its tag, its place and an audit entry', async ({
    mintService,
    mintChain,
    acme,
  }) => {
    const { body, headers } = await acme.post(path).send(full).expect(201);
    const nobodys = { totalNfts: 0, claimedNfts: 0, unclaimedNfts: 0, archivedAt: null };
    const made = { ...full, contractAddress: mintChain.contract, companyId: mintService.companies.acme };
    expect(body).toMatchObject({ ...made, ...nobodys });
    const read = await acme.get(headers['location'] ?? '').expect(200);
    expect(read.body).toEqual(body);
    expect(read.headers['etag']).toBe(headers['etag']);
    expect(await mintService.db('audit_log').where({ subject: body.id }).pluck('action')).toEqual([
      'rwa.create',
    ]);
  });

  test('sets what is absent or null to its default', async ({ acme }) => {
    const absent = {
      description: null,
      imageUrl: null,
      price: null,
      currency: null,
      data: null,
      claimBaseUrl: null,
    };
    const flags = { isBuyable: false, isClaimable: false, claimPage: false };
    for (const sent of [minimal, { ...minimal, ...absent }]) {
      const { body } = await acme.post(path).send(sent).expect(201);
      expect(body).toMatchObject({ ...minimal, ...absent, ...flags });
    }
  });

  test('takes a record that was read and is sent back as a new one', async ({ acme }) => {
    const { body } = await acme.post(path).send(full).expect(201);
    const again = await acme.post(path).send(body).expect(201);
    const { id, createdAt, updatedAt } = again.body;
    expect(again.body).toEqual({ ...body, id, createdAt, updatedAt });
    expect(id).not.toBe(body.id);
  });

  test('creates once for one Idempotency-Key, also while no node answers', async ({ mintService, acme }) => {
    const send = async () => acme.post(path).set('idempotency-key', 'no node').send(minimal).expect(201);
    const first = await send();
    const again = await withoutNodes(mintService, send);
    expect(again.headers['idempotency-replayed']).toBe('true');
    expect(again.body).toEqual(first.body);
  });

  test('takes a contract with code that is not minted on, in any case', async ({ acme }) => {
    const { body } = await acme
      .post(path)
      .send({ ...minimal, contractAddress: other })
      .expect(201);
    expect(body).toMatchObject({ contractAddress: other, isClaimable: false });
  });
});

type Fault = readonly [pointer: string, message: RegExp, change: object];

describe('400', () => {
  const faults: Fault[] = [
    ['/name', /must have a visible character|must not be empty/, { name: '   ' }],
    ['/imageUrl', /URL/, { imageUrl: 'javascript:alert(1)' }],
    ['/claimBaseUrl', /URL/, { claimBaseUrl: 'acme.example' }],
    ['/contractAddress', /zero address/, { contractAddress: `0x${'0'.repeat(40)}` }],
    ['/contractAddress', /is not fit\./, { contractAddress: other, isClaimable: true }],
    ['/contractAddress', /is required/, { chainId: 137 }],
  ];

  test.for(faults)('names %s: %s', async ([pointer, message, change], { mintService, acme }) => {
    const before = await mintService.db('rwas').count();
    const { body } = await acme
      .post(path)
      .send({ ...minimal, ...change })
      .expect(400);
    expect(body.errors[0]).toMatchObject({ in: 'body', pointer });
    expect(body.errors[0].message).toMatch(message);
    expect(await mintService.db('rwas').count()).toEqual(before);
  });

  test('names the signers when the contract lets none of them mint', async ({
    mintChain,
    mintService,
    acme,
  }) => {
    const [lane] = await mintService.db('mint_lanes').where({ chain_id: 31337 });
    const role = await mintChain.call<string>(
      'eth_call',
      { to: mintChain.contract, data: '0xd5391393' },
      'latest',
    );
    await mintChain.admin('revokeRole', role, lane.signer);
    const { body } = await acme
      .post(path)
      .send({ ...minimal, isClaimable: true })
      .expect(400);
    await mintChain.admin('grantRole', role, lane.signer);
    expect(body.detail).toContain(`contractAddress lets none of the signers mint: ${lane.signer}`);
  });
});

describe('409', () => {
  test('rejects a contract that RWAs of another company name, unless it is that of the network', async ({
    mintChain,
    mintService,
    acme,
    globex,
  }) => {
    const own = `0x${'3'.repeat(40)}`;
    await mintChain.call('anvil_setCode', own, '0x00');
    await globex
      .post(path)
      .send({ ...minimal, contractAddress: own })
      .expect(201);
    const { body } = await acme
      .post(path)
      .send({ ...minimal, contractAddress: own })
      .expect(409);
    expect(body).toMatchObject({
      code: 'contract_taken',
      detail: `Contract ${own} is used by another company`,
    });
    await addRwa(mintService.db, mintService.companies.globex, { contractAddress: mintChain.contract });
    await acme
      .post(path)
      .send({ ...minimal, contractAddress: mintChain.contract })
      .expect(201);
  });

  test('gives a contract to one of two companies that name it at once', async ({
    mintChain,
    acme,
    globex,
  }) => {
    const contested = `0x${'4'.repeat(40)}`;
    await mintChain.call('anvil_setCode', contested, '0x00');
    const body = { ...minimal, contractAddress: contested };
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, index) => (index % 2 === 0 ? acme : globex).post(path).send(body)),
    );
    const owners = new Set(
      answers.filter(({ status }) => status === 201).map((answer) => answer.body.companyId),
    );
    expect(owners.size).toBe(1);
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201, 409]));
  });
});

test('503 creates nothing when no node answers', async ({ mintService, acme }) => {
  const before = await mintService.db('rwas').count();
  const send = async () => acme.post(path).send(minimal).expect(503);
  const { body, headers } = await withoutNodes(mintService, send);
  expect(body.code).toBe('contract_unverified');
  expect(Number(headers['retry-after'])).toBeGreaterThan(0);
  expect(await mintService.db('rwas').count()).toEqual(before);
  await acme.post(path).send(minimal).expect(201);
});
