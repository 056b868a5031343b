import { describe, expect } from 'vitest';
import { createLogger } from '../../src/base/log.ts';
import { issueKey } from '../../src/keys/key-store.ts';
import { createKeyUses } from '../../src/keys/key-uses.ts';
import { purgeUsage, readUsage } from '../../src/keys/usage-store.ts';
import { makeKnownData } from '../contract/known-data.ts';
import { test } from '../support/fixtures.ts';
import type { TestService } from '../support/service.ts';
import { rowsReadBy } from '../support/statements.ts';

const log = createLogger({ level: 'silent' });
const at = (time: string) => Date.parse(`${time}Z`);
const days = 'from=2020-11-01&to=2020-11-30';
const usageOf = (service: TestService, query: string, key = service.keys.acme) =>
  service.as(key).get(`/v1/api/usage?${query}`);

type AuditRow = Readonly<Record<'company_id' | 'action' | 'actor_kind' | 'actor', string>>;

/** Stores calls as one process does. */
async function store(
  { db }: TestService,
  companyId: string,
  uses: readonly [string, string, string, number][],
) {
  let now = 0;
  const counted = createKeyUses({ db, log, now: () => now });
  for (const [time, keyId, operationId, status] of uses) {
    now = at(time);
    counted.note({ companyId, keyId, operationId }, status);
  }
  await counted.stop();
}

describe('200', () => {
  test('sums calls and rejections of the company alone, over processes, by operation or by key', async ({
    service,
  }) => {
    const { acme, globex } = service.companies;
    await store(service, acme, [
      ['2020-11-01T00:00:00', 'a', 'listEvents', 200],
      ['2020-11-01T00:00:59', 'a', 'listEvents', 404],
      ['2020-11-30T23:59:59', 'b', 'getNft', 503],
      ['2020-10-31T23:59:59', 'a', 'listEvents', 200],
      ['2020-12-01T00:00:00', 'a', 'listEvents', 200],
    ]);
    await store(service, acme, [
      ['2020-11-01T00:00:30', 'b', 'listEvents', 200],
      ['2020-11-01T00:00:10', 'a', 'listEvents', 200],
    ]);
    await store(service, globex, [['2020-11-02T00:00:00', 'c', 'listRwas', 200]]);
    const { body } = await usageOf(service, days).expect(200);
    expect(body).toEqual({
      calls: 5,
      rejections: 2,
      mints: 0,
      gasCosts: [],
      items: [
        { name: 'listEvents', calls: 4, rejections: 1, mints: null },
        { name: 'getNft', calls: 1, rejections: 1, mints: null },
      ],
    });
    const byKey = await usageOf(service, `${days}&by=key`).expect(200);
    expect(byKey.body.items).toEqual([
      { name: 'a', calls: 3, rejections: 1, mints: 0 },
      { name: 'b', calls: 2, rejections: 1, mints: 0 },
    ]);
    const other = await usageOf(service, days, service.keys.globex).expect(200);
    expect(other.body).toMatchObject({
      calls: 1,
      items: [{ name: 'listRwas', calls: 1, rejections: 0, mints: null }],
    });
  });

  test('has the accepted mints and their gas, in exact decimals, of the company alone', async ({
    service,
  }) => {
    const { nftId, secret } = await makeKnownData(service, 'acme');
    await service.as(service.keys.acme).post(`/v1/api/nft/${nftId}/mint`).send({ secret }).expect(200);
    await service.db('company_gas_days').insert([
      {
        company_id: service.companies.acme,
        chain_id: 31337,
        day: '2020-11-02',
        wei: '123456789012345678901234',
      },
      { company_id: service.companies.acme, chain_id: 31337, day: '2020-11-03', wei: '1' },
      { company_id: service.companies.acme, chain_id: 31337, day: '2020-12-01', wei: '5' },
      { company_id: service.companies.globex, chain_id: 31337, day: '2020-11-02', wei: '7' },
    ]);
    const [{ day }] = (
      await service.db.raw("SELECT (clock_timestamp() AT TIME ZONE 'UTC')::date::text AS day")
    ).rows;
    const { body } = await usageOf(service, days).expect(200);
    expect(body.gasCosts).toEqual([{ chainId: 31337, wei: '123456789012345678901235' }]);
    const byKey = (await usageOf(service, `from=${day}&to=${day}&by=key`).expect(200)).body;
    expect([byKey.mints, byKey.items.map(({ mints }: { mints: number }) => mints)]).toEqual([1, [1]]);
    const other = await usageOf(service, `from=${day}&to=${day}`, service.keys.globex).expect(200);
    expect(other.body.mints).toBe(0);
  });

  test('counts a mint for the key that asked, and what a holder claimed for no key', async ({ service }) => {
    const companyId = service.companies.globex;
    const minted = (at: string, by: Partial<AuditRow>) => ({
      at,
      company_id: companyId,
      action: 'nft.mint',
      actor_kind: 'key',
      actor: 'shop',
      origin: '127.0.0.1',
      ...by,
    });
    await service
      .db('audit_log')
      .insert([
        minted('2020-06-01T00:00:00Z', {}),
        minted('2020-06-30T23:59:59Z', {}),
        minted('2020-06-02T00:00:00Z', { actor: 'gone' }),
        minted('2020-06-02T00:00:00Z', { actor_kind: 'holder', actor: 'holder' }),
        minted('2020-06-02T00:00:00Z', { action: 'nft.create' }),
        minted('2020-06-02T00:00:00Z', { company_id: 'another' }),
        minted('2020-05-31T23:59:59Z', {}),
        minted('2020-07-01T00:00:00Z', {}),
      ]);
    await store(service, companyId, [
      ['2020-06-01T00:00:00', 'web', 'listRwas', 200],
      ['2020-06-01T00:00:00', 'shop', 'mintNft', 200],
      ['2020-06-01T00:01:00', 'shop', 'mintNft', 200],
    ]);
    const june = 'from=2020-06-01&to=2020-06-30';
    const { body } = await usageOf(service, `${june}&by=key`, service.keys.globex).expect(200);
    expect(body).toMatchObject({ calls: 3, mints: 4 });
    expect(body.items).toEqual([
      { name: 'shop', calls: 2, rejections: 0, mints: 2 },
      { name: 'web', calls: 1, rejections: 0, mints: 0 },
      { name: 'gone', calls: 0, rejections: 0, mints: 1 },
    ]);
    const byOperation = await usageOf(service, june, service.keys.globex).expect(200);
    expect(byOperation.body).toMatchObject({ mints: 4 });
    expect(byOperation.body.items).toEqual([
      { name: 'mintNft', calls: 2, rejections: 0, mints: null },
      { name: 'listRwas', calls: 1, rejections: 0, mints: null },
    ]);
  });

  test('has the requests that a process answered, when it stops', async ({ service }) => {
    const companyId = service.companies.acme;
    const { key, record } = await issueKey(service.db, 'test', { companyId, label: 'counted' });
    const twin = await service.twin();
    await twin.as(key).get('/v1/api/rwa').expect(200);
    await twin.as(key).get('/events/v1/api/event?colour=red').expect(400);
    await twin.as(key).get('/v1/api/nothing').expect(404);
    await twin.as('tk_test_nobody').get('/v1/api/rwa').expect(401);
    await twin.close();
    const counted = await service.db('usage_minutes').where({ key_id: record.id, company_id: companyId });
    expect(
      counted.map(({ operation, calls, rejections }) => [operation, calls, rejections].join(' ')).toSorted(),
    ).toEqual(['listEvents 1 1', 'listRwas 1 0']);
  });
});

test('a key that is limited to scopes gets its own usage alone, and no gas', async ({ service }) => {
  const companyId = service.companies.acme;
  const scopes = ['rwa:read'];
  const { key, record } = await issueKey(service.db, 'test', { companyId, label: 'shop', scopes });
  await store(service, companyId, [
    ['2020-07-01T00:00:00', record.id, 'listRwas', 200],
    ['2020-07-01T00:00:00', 'other', 'listEvents', 404],
  ]);
  const minted = {
    at: '2020-07-02T00:00:00Z',
    company_id: companyId,
    action: 'nft.mint',
    origin: '127.0.0.1',
  };
  await service.db('audit_log').insert([
    { ...minted, actor_kind: 'key', actor: record.id },
    { ...minted, actor_kind: 'key', actor: 'other' },
    { ...minted, actor_kind: 'holder', actor: record.id },
  ]);
  await service
    .db('company_gas_days')
    .insert({ company_id: companyId, chain_id: 31337, day: '2020-07-02', wei: '5' });
  const july = 'from=2020-07-01&to=2020-07-31&by=key';
  const { body } = await usageOf(service, july, key).expect(200);
  const own = { calls: 1, rejections: 0, mints: 1 };
  expect(body).toEqual({ ...own, gasCosts: null, items: [{ ...own, name: record.id }] });
  expect((await usageOf(service, july).expect(200)).body).toMatchObject({ calls: 2, mints: 3 });
});

describe('400', () => {
  test.for<[string, string]>([
    ['to=2020-11-30', 'from is required'],
    ['from=2020-11-01', 'to is required'],
    ['from=yesterday&to=2020-11-30', 'from must be a date such as 2027-05-04'],
    ['from=2020-02-30&to=2020-03-02', 'from must be a date that the calendar has'],
    ['from=0000-01-01&to=0000-01-02', 'from must be a date such as 2027-05-04'],
    ['from=2020-11-02&to=2020-11-01', 'to must not be before from'],
    ['from=2020-11-01&to=2020-12-02', 'to must be at most 31 days after from, both included'],
    [`${days}&by=colour`, 'by must be one of'],
  ])('for %s', async ([query, detail], { service }) => {
    const { body } = await usageOf(service, query).expect(400);
    expect(body.detail).toContain(detail);
  });
});

test('counts are deleted after 92 days', async ({ service }) => {
  await store(service, service.companies.acme, [
    ['2020-01-01T00:00:00', 'old', 'listEvents', 200],
    [new Date().toISOString().slice(0, 19), 'new', 'listEvents', 200],
  ]);
  while ((await purgeUsage(service.db, 5)) === 5);
  const names = await service.db('usage_minutes').distinct('key_id').pluck('key_id');
  expect(names).toContain('new');
  expect(names).not.toContain('old');
});

test('reads no entry of the audit log but mints of the company in these days, from an index alone', async ({
  database: { db },
}) => {
  await db.raw(`
    INSERT INTO audit_log (at, actor_kind, actor, origin, company_id, action)
    SELECT timestamptz '2021-01-01' + n * 7919 % 20000 * interval '1 minute', 'key', 'key ' || n % 3, '127.0.0.1', 'company ' || n % 10,
      CASE WHEN n % 4 = 0 THEN 'nft.mint' ELSE 'nft.create' END
    FROM generate_series(1, 20000) AS n`);
  await db.raw('ANALYZE audit_log');
  const ask = () =>
    readUsage(db, { companyId: 'company 4', from: '2021-01-03', to: '2021-01-04', by: 'key' });
  const { mints } = await ask();
  expect(mints).toBeGreaterThan(100);
  expect(await rowsReadBy(db, 'audit_log', ask)).toBe(mints);
});
