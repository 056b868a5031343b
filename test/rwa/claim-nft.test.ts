import { describe, expect } from 'vitest';
import { test } from '../support/fixtures.ts';

const path = '/v1/api/nft/claim';

describe('410', () => {
  test('points to the operation that replaces it', async ({ acme }) => {
    const { body, headers } = await acme.post(path).expect(410);
    expect(body).toMatchObject({ code: 'claim_gone', detail: 'Use POST /v1/api/nft/{id}/mint instead.' });
    expect(headers['link']).toBe('</v1/api/nft/{id}/mint>; rel="successor-version"');
    expect(headers['deprecation']).toBe('@1767225600');
    expect(headers['sunset']).toBe('Tue, 30 Jun 2026 23:59:59 GMT');
  });

  test.for([
    ['a body as it once was', 'application/json', '{"nftId":"x","secret":"y"}'],
    ['an empty object', 'application/json', '{}'],
    ['JSON that is broken', 'application/json', '{'],
    ['another content type', 'text/plain', 'secret'],
    ['a body over 100 kB', 'application/json', JSON.stringify({ secret: 'x'.repeat(200_000) })],
  ] as const)('is the answer to %s', async ([_, type, body], { acme }) => {
    await acme.post(path).set('content-type', type).send(body).expect(410);
  });
});
