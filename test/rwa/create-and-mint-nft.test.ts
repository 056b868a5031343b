import { afterAll, describe, expect, test } from 'vitest';
import { startService } from '../support/service.ts';
import { addRwa, recipient } from './samples.ts';

const service = await startService();
afterAll(() => service.close());
const acme = service.as(service.keys.acme);
const rwa = await addRwa(service.db, service.companies.acme, { isClaimable: true });
const path = `/v1/api/rwa/${rwa.id}/mint`;
const deep = JSON.parse(`${'{"a":'.repeat(21)}{}${'}'.repeat(21)}`);

describe('400', () => {
  test.each([
    ['/recipient', { recipient: '0x12' }],
    ['/data', { data: [] }],
    ['/data', { data: deep }],
    ['/data', { data: { text: 'x'.repeat(16_384) } }],
    ['/serial', { serial: 1 }],
  ])('names %s', async (pointer, body) => {
    const answer = await acme.post(path).send(body).expect(400);
    expect(answer.body.errors).toMatchObject([{ in: 'body', pointer }]);
  });
});

describe('501', () => {
  test.each([undefined, {}, { recipient, data: { order: 'A-1007' } }])(
    'says that minting is not available in this release, and makes nothing, with the body %j',
    async (body) => {
      const sending = acme.post(path);
      const answer = await (body === undefined ? sending : sending.send(body)).expect(501);
      expect(answer.body.code).toBe('not_implemented');
      expect(await service.db('nfts')).toEqual([]);
    },
  );
});
