import { randomBytes, randomUUID } from 'node:crypto';
import { describe, expect } from 'vitest';
import type { OperatorRwa } from '../../src/rwa/operators/rwa-admin-store.ts';
import { test } from '../support/fixtures.ts';
import type { TestService } from '../support/service.ts';
import { statementsOf } from '../support/statements.ts';
import { addRwa, markMinted, mintedTx, recipient } from './samples.ts';

let rwa: OperatorRwa;

test.beforeAll(async ({ service }) => {
  rwa = await addRwa(service.db, service.companies.acme, { data: { litres: 220 } });
});

async function newNft(service: TestService, key = service.keys.acme, rwaId = rwa.id) {
  const { body } = await service.as(key).post(`/v1/api/rwa/${rwaId}/nfts`).send({ count: 1 }).expect(200);
  return body.nfts[0];
}

describe('200', () => {
  test('has the NFT as it was made, and the full information of its RWA', async ({ service, acme }) => {
    const nft = await newNft(service);
    const { body } = await acme.get(`/v1/api/nft/${nft.id}`).expect(200);
    const full = (await acme.get(`/v1/api/rwa/${rwa.id}`).expect(200)).body;
    expect(full.data).toEqual({ litres: 220 });
    expect(body).toEqual({ ...nft, rwa: full });
  });

  test('shows the mint when it is finished, and the data of the NFT', async ({ service, acme }) => {
    const nft = await newNft(service);
    await service
      .db('nfts')
      .where({ id: nft.id })
      .update({ data: { order: 'A-1007' } });
    await markMinted(service.db, nft.id);
    const { body } = await acme.get(`/v1/api/nft/${nft.id}`).expect(200);
    expect(body).toMatchObject({
      claimStatus: 'minted',
      recipient,
      mintedAt: '2027-03-02T10:15:30.250Z',
      mintedTx,
      mintedBlock: '1042',
      data: { order: 'A-1007' },
    });
    expect(Date.parse(body.updatedAt)).toBeGreaterThanOrEqual(Date.parse(nft.updatedAt));
  });

  test('writes numbers of blocks beyond what a JSON number holds', async ({ service, acme }) => {
    const nft = await newNft(service);
    await markMinted(service.db, nft.id);
    await service.db('nfts').where({ id: nft.id }).update({ minted_block: '123456789012345678901234567890' });
    const { body } = await acme.get(`/v1/api/nft/${nft.id}`).expect(200);
    expect(body.mintedBlock).toBe('123456789012345678901234567890');
  });
});

describe('404', () => {
  test('asks the database the same for an unknown NFT as for a foreign one', async ({ service, acme }) => {
    const foreign = await addRwa(service.db, service.companies.globex);
    const { id } = await newNft(service, service.keys.globex, foreign.id);
    const statementsFor = async (wanted: string) => {
      const sent = await statementsOf(service.parts.db, async () => acme.get(`/v1/api/nft/${wanted}`));
      return sent.flatMap(({ sql }) => (sql.includes('nfts') ? [sql] : []));
    };
    const foreignly = await statementsFor(id);
    expect(foreignly).toHaveLength(2);
    expect(await statementsFor(randomUUID())).toEqual(foreignly);
  });
});

describe('a secret that cannot be opened', () => {
  test.for([
    ['was damaged', { secret_cipher: randomBytes(60) }],
    ['needs a key that is gone', { secret_key_id: 'gone' }],
  ] as const)('is empty, and all else is told, when it %s', async ([_, damage], { service, acme }) => {
    const nft = await newNft(service);
    await service.db('nfts').where({ id: nft.id }).update(damage);
    const { body, text } = await acme.get(`/v1/api/nft/${nft.id}`).expect(200);
    expect(body).toMatchObject({ id: nft.id, tokenId: nft.tokenId, secret: '' });
    expect(text).not.toMatch(/decrypt|gone/i);
  });
});
