import { randomBytes, randomUUID } from 'node:crypto';
import { Writable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createLogger } from '../../src/log.ts';
import type { OperatorRwa } from '../../src/rwa/operators/rwa-admin-store.ts';
import { startService } from '../support/service.ts';
import { addRwa, markMinted, mintedTx, recipient } from './samples.ts';

const logged: string[] = [];
const destination = new Writable({
  write(chunk, _encoding, done) {
    logged.push(String(chunk));
    done();
  },
});
const service = await startService({
  replace: () => ({ log: createLogger({ level: 'debug', destination }) }),
});
afterAll(() => service.close());
const acme = service.as(service.keys.acme);
let rwa: OperatorRwa;

beforeAll(async () => {
  rwa = await addRwa(service.db, service.companies.acme, { data: { litres: 220 } });
});

async function newNft(key = service.keys.acme, rwaId = rwa.id) {
  const { body } = await service.as(key).post(`/v1/api/rwa/${rwaId}/nfts`).send({ count: 1 }).expect(200);
  return body.nfts[0];
}

describe('200', () => {
  test('has the NFT as it was made, and the full information of its RWA', async () => {
    const nft = await newNft();
    const { body } = await acme.get(`/v1/api/nft/${nft.id}`).expect(200);
    const full = (await acme.get(`/v1/api/rwa/${rwa.id}`).expect(200)).body;
    expect(full.data).toEqual({ litres: 220 });
    expect(body).toEqual({ ...nft, rwa: full });
  });

  test('shows the mint when it is finished, and the data of the NFT', async () => {
    const nft = await newNft();
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

  test('writes numbers of blocks beyond what a JSON number holds', async () => {
    const nft = await newNft();
    await markMinted(service.db, nft.id);
    await service.db('nfts').where({ id: nft.id }).update({ minted_block: '123456789012345678901234567890' });
    const { body } = await acme.get(`/v1/api/nft/${nft.id}`).expect(200);
    expect(body.mintedBlock).toBe('123456789012345678901234567890');
  });
});

describe('400', () => {
  test.each(['x', '1', `${randomUUID()}0`])('refuses the id %s and names it', async (id) => {
    const { body } = await acme.get(`/v1/api/nft/${id}`).expect(400);
    expect(body.errors).toMatchObject([{ in: 'path', name: 'id' }]);
  });
});

describe('403', () => {
  test('refuses the NFT of another company, with nothing of it in the answer', async () => {
    const foreign = await addRwa(service.db, service.companies.globex);
    const nft = await newNft(service.keys.globex, foreign.id);
    const { body, text } = await acme.get(`/v1/api/nft/${nft.id}`).expect(403);
    expect(body).toMatchObject({ code: 'nft_foreign', detail: 'NFT belongs to another company' });
    for (const known of [nft.secret, nft.tokenId, foreign.id]) expect(text).not.toContain(known);
  });
});

describe('404', () => {
  test('does not know an id that no NFT has', async () => {
    const { body } = await acme.get(`/v1/api/nft/${randomUUID()}`).expect(404);
    expect(body).toMatchObject({ code: 'nft_not_found', detail: 'NFT not found' });
  });

  test('asks the database the same for an unknown NFT as for a foreign one', async () => {
    const foreign = await addRwa(service.db, service.companies.globex);
    const { id } = await newNft(service.keys.globex, foreign.id);
    const sent: string[][] = [];
    for (const wanted of [id, randomUUID()]) {
      const statements: string[] = [];
      const note = ({ sql }: { sql: string }) => statements.push(sql);
      service.parts.db.on('query', note);
      await acme.get(`/v1/api/nft/${wanted}`);
      service.parts.db.removeListener('query', note);
      sent.push(statements.filter((sql) => sql.includes('nfts')));
    }
    expect(sent[0]).toHaveLength(2);
    expect(sent[1]).toEqual(sent[0]);
  });
});

describe('500', () => {
  test.each([
    ['was damaged', async () => ({ secret_cipher: randomBytes(60) })],
    ['is cut off', async () => ({ secret_cipher: Buffer.alloc(3) })],
    ['was swapped with that of another NFT', async () => swapped()],
    ['needs a key that is gone', async () => ({ secret_key_id: 'gone' })],
  ])('answers without a detail, and logs the cause, when the secret %s', async (_, damage) => {
    const nft = await newNft();
    await service
      .db('nfts')
      .where({ id: nft.id })
      .update(await damage());
    logged.length = 0;
    const { body, text } = await acme.get(`/v1/api/nft/${nft.id}`).expect(500);
    expect(body).toMatchObject({ code: 'internal_error', detail: 'An unexpected error occurred.' });
    expect(text).not.toMatch(/secret|key|decrypt|nfts/i);
    expect(logged.join('')).toMatch(/cannot be decrypted|needs unknown key gone/);
    expect(logged.join('')).toContain(nft.id);
    expect(logged.join('')).not.toContain(nft.secret);
  });

  const swapped = async () => {
    const row = await service
      .db('nfts')
      .where({ id: (await newNft()).id })
      .first();
    return { secret_cipher: row.secret_cipher };
  };
});

describe('the log', () => {
  test('has no secret after a creation and a reading', async () => {
    logged.length = 0;
    const nft = await newNft();
    await acme.get(`/v1/api/nft/${nft.id}`).expect(200);
    expect(logged.join('')).not.toContain(nft.secret);
  });
});
