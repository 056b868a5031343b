import { randomUUID } from 'node:crypto';
import { describe, expect } from 'vitest';
import type { OperatorRwa } from '../../src/rwa/operators/rwa-admin-store.ts';
import { reissueSecret } from '../../src/rwa/operators/secret-reissue-store.ts';
import { testWith } from '../support/fixtures.ts';
import type { Client } from '../support/service.ts';
import { addRwa, serviceVault } from './samples.ts';

const test = testWith({ settings: { CLAIM_BASE_URL: 'https://claim.example/c/?lang=en' } });

let rwa: OperatorRwa;

test.beforeEach(async ({ service }) => {
  rwa = await addRwa(service.db, service.companies.acme);
});

type Nft = { id: string; serial: string; tokenId: string; secret: string; url: string };

const create = (acme: Client, count: unknown, { id = rwa.id, key = '' } = {}) => {
  const sending = acme.post(`/v1/api/rwa/${id}/nfts`).send({ count });
  return key === '' ? sending : sending.set('idempotency-key', key);
};

const serialsOf = (nfts: readonly Nft[]) => nfts.map(({ serial }) => Number(serial));
const upTo = (count: number) => Array.from({ length: count }, (_, index) => index + 1);

describe('200', () => {
  test('makes NFTs with serials, token ids and secrets of their own, and mints nothing', async ({ acme }) => {
    const { body } = await create(acme, 2).expect(200);
    expect(body.created).toBe(2);
    for (const [index, nft] of body.nfts.entries()) {
      expect(nft).toEqual({
        id: expect.any(String),
        rwaId: rwa.id,
        serial: `00000${index + 1}`,
        tokenId: expect.any(String),
        secret: expect.stringMatching(/^[A-Za-z0-9_-]{22,}$/),
        url: `https://claim.example/c/${nft.id}?lang=en#${nft.secret}`,
        claimStatus: 'unclaimed',
        mintError: null,
        mintNote: null,
        recipient: null,
        mintedAt: null,
        mintedTx: null,
        mintedBlock: null,
        owner: null,
        ownerSince: null,
        burnedAt: null,
        data: null,
        attributes: null,
        imageUrl: null,
        createdAt: expect.any(String),
        updatedAt: nft.createdAt,
      });
    }
  });

  test('gives token ids below the number of the RWA that nobody can guess, and answers what is stored', async ({
    acme,
    db,
  }) => {
    const { nfts } = (await create(acme, 100).expect(200)).body as { nfts: Nft[] }; // the contract's answer
    const tokenIds = nfts.map(({ tokenId }) => BigInt(tokenId));
    expect(tokenIds.every((id) => id >> 64n === rwa.number)).toBe(true);
    const random = tokenIds.map((id) => id & (2n ** 64n - 1n));
    expect(random.every((part) => part > 0n && part < 2n ** 63n)).toBe(true);
    // Of 100 parts of 63 bits, some use the upper eight.
    expect(random.some((part) => part >= 2n ** 55n)).toBe(true);
    const stored = await db('nfts')
      .where({ rwa_number: rwa.number.toString() })
      .orderBy('serial')
      .pluck('token_id');
    expect(stored).toEqual(nfts.map(({ tokenId }) => tokenId));
    const [first, second] = stored;
    await expect(db('nfts').where({ token_id: first }).update({ token_id: second })).rejects.toThrow(
      'nfts_token',
    );
  });

  test('goes on with the next serial, and shows the same NFTs in the listing', async ({ acme }) => {
    const first = (await create(acme, 3).expect(200)).body.nfts;
    const second = (await create(acme, 2).expect(200)).body.nfts;
    expect(serialsOf(second)).toEqual([4, 5]);
    const { body } = await acme.get(`/v1/api/rwa/${rwa.id}/nfts`).expect(200);
    expect(body).toEqual([...first, ...second]);
  });

  test('stores 100 NFTs in one statement, beside each other in the index of ids', async ({
    service,
    acme,
  }) => {
    const { nfts } = (await create(acme, 100).expect(200)).body;
    const ids = nfts.map(({ id }: Nft) => id);
    expect(ids).toEqual(ids.toSorted());
    // The transaction that inserted a row, and the number of its command in that.
    const inserted = await service
      .db('nfts')
      .where({ rwa_id: rwa.id })
      .select(service.db.raw('xmin::text'), service.db.raw('cmin::text'));
    expect(inserted).toHaveLength(100);
    expect(new Set(inserted.map(({ xmin, cmin }) => `${xmin} ${cmin}`)).size).toBe(1);
    const told = await service
      .db('audit_log')
      .where({ action: 'nft.create', subject: rwa.id })
      .select(service.db.raw('xmin::text'), service.db.raw('cmin::text'));
    expect(told).toEqual([inserted[0]]);
  });

  test('gives concurrent callers unique serials without a gap, and counts every NFT', async ({ acme }) => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => create(acme, 10).expect(200)));
    const nfts: Nft[] = answers.flatMap(({ body }) => body.nfts);
    expect(serialsOf(nfts).toSorted((a, b) => a - b)).toEqual(upTo(200));
    expect(new Set(nfts.map(({ secret }) => secret)).size).toBe(200);
    for (const { body } of answers) {
      const [first = 0] = serialsOf(body.nfts);
      expect(serialsOf(body.nfts)).toEqual(upTo(10).map((n) => n + first - 1));
    }
    const { body } = await acme.get(`/v1/api/rwa/${rwa.id}`).expect(200);
    expect(body).toMatchObject({ totalNfts: 200, claimedNfts: 0, unclaimedNfts: 200 });
  });

  test('takes the claim page of the RWA, else of the company, else of the setting', async ({
    service,
    acme,
  }) => {
    const own = await addRwa(service.db, service.companies.globex, { claimBaseUrl: 'https://rwa.example' });
    const inherits = await addRwa(service.db, service.companies.globex);
    await service
      .db('companies')
      .where({ id: service.companies.globex })
      .update({ claim_base_url: 'https://globex.example' });
    const globex = service.as(service.keys.globex);
    const hosts = [];
    for (const { id } of [own, inherits]) {
      const { body } = await globex.post(`/v1/api/rwa/${id}/nfts`).send({ count: 1 }).expect(200);
      hosts.push(new URL(body.nfts[0].url).host);
    }
    hosts.push(new URL((await create(acme, 1).expect(200)).body.nfts[0].url).host);
    expect(hosts).toEqual(['rwa.example', 'globex.example', 'claim.example']);
  });
});

describe('200 with an Idempotency-Key', () => {
  test('repeats all but the secret of an NFT that was damaged since, as lists do', async ({
    service,
    acme,
  }) => {
    const key = randomUUID();
    const { nfts } = (await create(acme, 3, { key }).expect(200)).body;
    await service
      .db('nfts')
      .where({ id: nfts[1].id })
      .update({ secret_cipher: Buffer.alloc(60, 1) });
    const again = await create(acme, 3, { key }).expect(200);
    const shown = await acme.get(`/v1/api/nft/${nfts[1].id}`).expect(200);
    expect(again.body.nfts[1]).toEqual({ ...nfts[1], secret: '', url: shown.body.url });
    expect(again.body.nfts.toSpliced(1, 1)).toEqual(nfts.toSpliced(1, 1));
  });

  test('keeps no secret in the record, so a repeat shows a secret that was reissued meanwhile', async ({
    service,
    acme,
  }) => {
    const key = randomUUID();
    const { nfts } = (await create(acme, 2, { key }).expect(200)).body;
    const records = JSON.stringify(await service.db('idempotency_records').where({ key }));
    expect(records).toContain(nfts[0].id);
    for (const { secret } of nfts) expect(records).not.toContain(secret);
    const fresh = await reissueSecret(service.db, serviceVault, nfts[0].id, 'https://claim.example');
    const again = (await create(acme, 2, { key }).expect(200)).body.nfts;
    expect(again[0]).toMatchObject({ id: nfts[0].id, secret: fresh?.secret });
    expect(again[0].url).toMatch(new RegExp(`#${fresh?.secret}$`));
    expect(again[1]).toEqual(nfts[1]);
  });
});
