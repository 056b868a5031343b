import { createHash } from 'node:crypto';
import { describe, expect } from 'vitest';
import { test } from '../support/fixtures.ts';

/** A cursor as whoever knows how they are made may make one for the own company. */
function cursorOf(companyId: string, path: string, query: Record<string, string>, position: string): string {
  const narrowing = Object.entries(query).toSorted(([one], [other]) => (one < other ? -1 : 1));
  const content = JSON.stringify(['tallystick list', companyId, path, narrowing, position]);
  const sum = createHash('sha256').update(content).digest().subarray(0, 8);
  return Buffer.concat([sum, Buffer.from(position, 'latin1')]).toString('base64url');
}

const dashes = '-'.repeat(36);
const id = '00000000-0000-4000-8000-000000000000';
const [rwas, events, nfts] = ['/v1/api/rwa', '/events/v1/api/event', '/v1/api/nft'];
const startsFrom = { startsFrom: '2026-01-01T00:00:00.000Z' };
const updatedSince = { updatedSince: '2026-01-01T00:00:00.000Z' };

describe('a cursor that somebody made', () => {
  test.for([
    [rwas, {}, `1790000000000000.${dashes}`],
    [rwas, {}, `-999999999999999999.${id}`],
    [events, {}, `1790000000000000.${dashes}`],
    [events, startsFrom, `1790000000000000.${dashes}`],
    [events, startsFrom, `-999999999999999999.${id}`],
    [nfts, updatedSince, '9223372036854775808.1'],
    [nfts, {}, '99999999999999999999.1'],
  ] as const)('for %s %o at %s is refused', async ([path, query, position], { service, acme }) => {
    const cursor = cursorOf(service.companies.acme, path, query, position);
    const { body } = await acme
      .get(path)
      .query({ ...query, cursor })
      .expect(400);
    expect(body.code).toBe('cursor_invalid');
  });

  test.for([
    [rwas, {}, `-9999999999999999.${id}`],
    [rwas, {}, `9999999999999999.${id}`],
    [events, {}, `-9999999999999999.${id}`],
    [events, startsFrom, `9999999999999999.${id}`],
    [events, startsFrom, `-9999999999999999.${id}`],
    [nfts, updatedSince, '2099999999.2099999999'],
    [nfts, {}, '0.0'],
  ] as const)(
    'for %s %o at %s leads to the rows behind it',
    async ([path, query, position], { service, acme }) => {
      const cursor = cursorOf(service.companies.acme, path, query, position);
      await acme
        .get(path)
        .query({ ...query, cursor })
        .expect(200);
    },
  );
});
