import { randomUUID } from 'node:crypto';
import { afterAll, describe, expect, test } from 'vitest';
import { startService } from '../support/service.ts';
import { recipient } from './samples.ts';

const service = await startService();
afterAll(() => service.close());
const acme = service.as(service.keys.acme);
const path = `/v1/api/nft/${randomUUID()}/mint`;

describe('400', () => {
  test.each([undefined, {}, { secret: '' }, { secret: null }, { recipient }])(
    'asks for the secret when the body is %j',
    async (body) => {
      const sending = acme.post(path);
      const answer = await (body === undefined ? sending : sending.send(body)).expect(400);
      expect(answer.body.detail).toBe('Secret is required');
    },
  );

  test.each([
    ['/recipient', { secret: 'x', recipient: '0x12' }],
    ['/secret', { secret: 5 }],
    ['/mintedTx', { secret: 'x', mintedTx: '0x' }],
  ])('names %s of %j', async (pointer, body) => {
    const answer = await acme.post(path).send(body).expect(400);
    expect(answer.body.errors).toMatchObject([{ in: 'body', pointer }]);
  });
});

describe('501', () => {
  test('says that minting is not available in this release', async () => {
    const { body } = await acme.post(path).send({ secret: 'x', recipient }).expect(501);
    expect(body).toMatchObject({
      code: 'not_implemented',
      detail: 'This operation is not available in this release.',
    });
  });
});
