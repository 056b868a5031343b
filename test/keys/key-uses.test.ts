import { describe, expect } from 'vitest';
import { createLogger } from '../../src/base/log.ts';
import type { Database } from '../../src/contract/transaction.ts';
import { issueKey } from '../../src/keys/key-store.ts';
import { createKeyUses } from '../../src/keys/key-uses.ts';
import { test as base, perFile } from '../support/fixtures.ts';
import { statementsOf } from '../support/statements.ts';
import { waitFor } from '../support/wait-for.ts';

const test = base.extend('serviceOptions', perFile, () => ({}));
const log = createLogger({ level: 'silent' });
const at = (time: string) => Date.parse(`2026-11-27T${time}Z`);

const newKey = (db: Database) => issueKey(db, 'live', { companyId: null, label: 'used' });
const stored = async (db: Database, id: string) =>
  (await db('api_keys').where({ id }).first('last_used_at')).last_used_at as Date | null;

describe('last uses', () => {
  test('are stored to the minute, for all keys and any number of uses by one statement', async ({
    service,
  }) => {
    const { db } = service;
    const keys = [await newKey(db), await newKey(db)].map(({ record }) => record.id);
    let now = at('16:05:59.999');
    const uses = createKeyUses({ db, log, now: () => now });
    const sent = await statementsOf(db, async () => {
      for (let count = 0; count < 1_000; count += 1) for (const id of keys) uses.note({ keyId: id }, 200);
      now = at('16:06:00.001');
      uses.note({ keyId: keys[1] ?? '' }, 200);
      uses.note({ keyId: 'key_1234abcd' }, 200);
      await uses.flush();
      await uses.flush();
    });
    expect(sent.filter(({ sql }) => sql.includes('api_keys'))).toHaveLength(1);
    expect(sent.filter(({ sql }) => sql.startsWith('BEGIN'))).toHaveLength(1);
    expect(await Promise.all(keys.map((id) => stored(db, id)))).toEqual([
      new Date(at('16:05:00')),
      new Date(at('16:06:00')),
    ]);
    await uses.stop();
  });

  test('of several processes are the latest, whoever stores first', async ({ service }) => {
    const { db } = service;
    const { record } = await newKey(db);
    const early = createKeyUses({ db, log, now: () => at('16:05:00') });
    const late = createKeyUses({ db, log, now: () => at('16:09:00') });
    for (const process of [late, early]) {
      process.note({ keyId: record.id }, 200);
      await process.stop();
      expect(await stored(db, record.id)).toEqual(new Date(at('16:09:00')));
    }
  });

  test('are kept while they cannot be stored', async ({ service }) => {
    const { db } = service;
    const { record } = await newKey(db);
    let isBroken = true;
    const flaky = new Proxy(db, {
      get: (target, name) =>
        name === 'transaction' && isBroken
          ? () => Promise.reject(new Error('no'))
          : Reflect.get(target, name),
    });
    const uses = createKeyUses({ db: flaky, log, now: () => at('16:05:00') });
    const companyId = service.companies.acme;
    const use = { keyId: record.id, companyId, operationId: 'listRwas' };
    uses.note(use, 200);
    await uses.flush();
    expect(await stored(db, record.id)).toBeNull();
    uses.note(use, 500);
    isBroken = false;
    await uses.stop();
    await uses.flush();
    const counted = await db('usage_minutes').where({ key_id: record.id });
    expect(counted).toMatchObject([
      { company_id: companyId, operation: 'listRwas', calls: '2', rejections: '1' },
    ]);
    expect(await stored(db, record.id)).toEqual(new Date(at('16:05:00')));
  });

  test('notify nobody, so that no process verifies a key again', async ({ service }) => {
    const { db } = service;
    const { record } = await newKey(db);
    const { rows } = await db.raw(
      "SELECT tgname, tgtype, (SELECT array_agg(attname::text) FROM pg_attribute WHERE attrelid = tgrelid AND attnum = ANY (tgattr)) AS columns FROM pg_trigger WHERE tgrelid = 'api_keys'::regclass AND tgname = 'api_keys_notify'",
    );
    expect(rows).toHaveLength(1);
    expect(rows[0].columns).not.toContain('last_used_at');
    for (const column of Object.keys(await db('api_keys').where({ id: record.id }).first())) {
      const isOfCaller = /^(company_id|hash|rate_.*|scopes|expires_at|revoked_at)$/.test(column);
      expect([column, rows[0].columns.includes(column)]).toEqual([column, isOfCaller]);
    }
  });
});

test('a request of a key is stored when the service stops, by the rights of the api', async ({ service }) => {
  const { db } = service;
  const { key, record } = await issueKey(db, 'test', { companyId: service.companies.acme, label: 'asks' });
  const twin = await service.twin();
  const before = Math.floor(Date.now() / 60_000) * 60_000;
  await twin.as(key).get('/v1/api/rwa').expect(200);
  await twin.as(key).get('/v1/api/rwa?unknown=1').expect(400);
  await twin.close();
  await waitFor(async () => expect(await stored(db, record.id)).not.toBeNull());
  const last = (await stored(db, record.id))?.getTime() ?? 0;
  expect(last).toBeGreaterThanOrEqual(before);
  expect(last % 60_000).toBe(0);
});
