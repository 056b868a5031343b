import supertest from 'supertest';
import { describe, expect, test } from 'vitest';
import { createAddressLimit } from '../../src/http/dispatch/address-limit.ts';
import { fixtureApp, goodKey, id } from './support.ts';

describe('requests that need no key', () => {
  test('are let in so many times a minute for an address, then 429 with Retry-After', async () => {
    const app = await fixtureApp({
      publicRequests: createAddressLimit(2),
      trustedProxies: ['loopback'],
    });
    const get = (from: string) => supertest(app).get('/api/public').set('x-forwarded-for', from);
    await get('203.0.113.1').expect(200);
    await get('203.0.113.1').expect(200);
    const refused = await get('203.0.113.1').expect(429);
    expect(refused.body.code).toBe('rate_limited');
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(50);
    await get('203.0.113.2').expect(200);
    await supertest(app).get(`/api/thing/${id}`).set('x-api-key', goodKey).expect(200);
  });
});
