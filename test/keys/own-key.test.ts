import { randomUUID } from 'node:crypto';
import { describe, expect } from 'vitest';
import type { Caller, CallerContext } from '../../src/contract/operation.ts';
import { issueKey } from '../../src/keys/key-store.ts';
import { createOwnKeyHandler } from '../../src/keys/own-key.ts';
import { test as base, perFile } from '../support/fixtures.ts';
import type { TestService } from '../support/service.ts';

const test = base.extend('serviceOptions', perFile, () => ({
  settings: { RATE_LIMIT_PER_SECOND: '100', RATE_LIMIT_BURST: '1000' },
}));

const areas = ['/blockchain/v1/api', '/events/v1/api', '/v1/api', '/news/v1/api'];

describe.each(areas)('GET %s/key', (base) => {
  const read = async (service: TestService, key: string) =>
    (await service.as(key).get(`${base}/key`).expect(200)).body;

  test('shows what a limited key may do, when it ends and when it was used', async ({ service }) => {
    const expiresAt = new Date('2100-01-31T12:00:00.000Z');
    const lastUsedAt = new Date('2026-11-27T16:05:00.000Z');
    const companyId = service.companies.acme;
    const { key, record } = await issueKey(service.db, 'test', {
      companyId,
      label: 'front end',
      scopes: ['events:read', 'secrets:read'],
      rateLimit: { perSecond: 20, burst: 40 },
      expiresAt,
    });
    await service.db('api_keys').where({ id: record.id }).update({ last_used_at: lastUsedAt });
    expect(await read(service, key)).toEqual({
      id: record.id,
      companyId,
      companyName: 'acme',
      scopes: ['events:read', 'secrets:read'],
      eventId: null,
      rateLimit: { perSecond: 20, burst: 40 },
      expiresAt: expiresAt.toISOString(),
      lastUsedAt: lastUsedAt.toISOString(),
    });
  });

  test('shows the limit of the service to a key without scopes, limit and end', async ({ service }) => {
    const { key, record } = await issueKey(service.db, 'test', {
      companyId: service.companies.globex,
      label: 'plain',
    });
    expect(await read(service, key)).toEqual({
      id: record.id,
      companyId: service.companies.globex,
      companyName: 'globex',
      scopes: null,
      eventId: null,
      rateLimit: { perSecond: 100, burst: 1000 },
      expiresAt: null,
      lastUsedAt: null,
    });
  });
});

describe('a key of another service', () => {
  const ask = (service: TestService, caller: Pick<Caller, 'keyId' | 'companyId'>) => {
    const handler = createOwnKeyHandler({ db: service.db, defaults: { perSecond: 0, burst: 1 } });
    return handler({}, {
      caller: { ...caller, rateLimit: null, scopes: null, eventId: null },
    } as CallerContext);
  };

  test('shows null for what only that service knows', async ({ service }) => {
    const caller = { keyId: 'key_1234abcd', companyId: randomUUID() };
    expect((await ask(service, caller)).body).toEqual({
      id: caller.keyId,
      companyId: caller.companyId,
      companyName: null,
      scopes: null,
      eventId: null,
      rateLimit: null,
      expiresAt: null,
      lastUsedAt: null,
    });
  });

  test('never shows the record of a key of another company, whatever its id', async ({ service }) => {
    const { record } = await issueKey(service.db, 'test', {
      companyId: service.companies.globex,
      label: 'other',
      expiresAt: new Date('2100-01-31T12:00:00.000Z'),
    });
    const own = { keyId: record.id, companyId: service.companies.acme };
    expect((await ask(service, own)).body).toMatchObject({ companyName: 'acme', expiresAt: null });
  });
});

test('a key without a company reads itself in blockchain data', async ({ service }) => {
  const { body } = await service.as(service.keys.noCompany).get('/blockchain/v1/api/key').expect(200);
  expect(body).toMatchObject({ companyId: null, companyName: null, scopes: null });
});
