import supertest from 'supertest';
import { describe, expect, test } from 'vitest';
import { currentScope } from '../../src/base/request-scope.ts';
import { ItemStream } from '../../src/contract/item-stream.ts';
import { fixtureApp, goodKey, id } from './support.ts';

const get = async (getThing: NonNullable<Parameters<typeof fixtureApp>[0]>['handlers'] = {}) =>
  supertest(await fixtureApp({ deadlineMs: 50, handlers: getThing }))
    .get(`/api/thing/${id}`)
    .set('x-api-key', goodKey);

describe('a request whose answer is not made by its deadline', () => {
  test('is 503 with Retry-After, and its work is told to end', async () => {
    let signal: AbortSignal | undefined;
    const getThing = () => {
      signal = currentScope()?.signal;
      return new Promise<never>(() => {});
    };
    const { status, headers, body } = await get({ getThing });
    expect([status, body.code]).toEqual([503, 'service_unavailable']);
    expect(Number(headers['retry-after'])).toBeGreaterThan(0);
    expect(signal?.aborted).toBe(true);
    expect(signal?.reason).toMatchObject({ code: 'service_unavailable' });
  });

  test('is let be once its answer has begun, which goes at the pace of its caller', async () => {
    async function* batches() {
      yield [1];
      await new Promise((resolve) => setTimeout(resolve, 150));
      yield [2];
    }
    const { body } = await get({
      getThing: async () => ({ status: 200, body: new ItemStream(batches(), 0) }),
    });
    expect(body).toEqual([1, 2]);
  });
});
