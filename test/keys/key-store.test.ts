import { Client } from 'pg';
import { describe, expect, vi } from 'vitest';
import { createCompanyStore } from '../../src/keys/company-store.ts';
import { hashKey } from '../../src/keys/key-format.ts';
import { lookUpKey } from '../../src/keys/key-lookup-store.ts';
import { createKeyStore, type KeyStore } from '../../src/keys/key-store.ts';
import type { TestDatabase } from '../support/database.ts';
import { test } from '../support/fixtures.ts';

let keys: KeyStore;
let companyId: string;
const unknown = '00000000-0000-4000-8000-000000000000';

test.beforeAll(async ({ database }) => {
  keys = createKeyStore({ db: database.db });
  companyId = (await createCompanyStore({ db: database.db }).create({ name: 'acme' })).id;
});

describe('a new key', () => {
  test('is told once and kept only as a hash', async ({ database }) => {
    const { key, record } = await keys.create('live', { companyId, label: 'shop' });
    expect(record).toMatchObject({ companyId, companyName: 'acme', label: 'shop', rateLimit: null });
    expect(record.hint).toBe(`${key.slice(0, 12)}…`);
    const { rows } = await database.db.raw('SELECT api_keys::text AS row, hash FROM api_keys WHERE id = ?', [
      record.id,
    ]);
    expect(rows[0].hash).toEqual(hashKey(key));
    expect(rows[0].row).not.toContain(key.slice(12));
    expect(JSON.stringify(await keys.list())).not.toContain(key.slice(12));
  });

  test('may have no company, a limit of its own and an end', async () => {
    const expiresAt = new Date('2099-01-01T00:00:00Z');
    const rateLimit = { perSecond: 5, burst: 20 };
    const { record } = await keys.create('live', { companyId: null, label: 'guest', rateLimit, expiresAt });
    expect(record).toMatchObject({ companyId: null, companyName: null, rateLimit, expiresAt });
  });

  test('is refused for a company that does not exist', async () => {
    await expect(keys.create('live', { companyId: 'nobody', label: 'x' })).rejects.toThrow(/foreign key/);
  });
});

describe('the list of keys', () => {
  test('is narrowed to a company, or to those without one', async () => {
    await keys.create('live', { companyId: null, label: 'alone' });
    const own = await keys.list({ companyId });
    const alone = await keys.list({ companyId: null });
    expect(own.length).toBeGreaterThan(0);
    expect(own.every((key) => key.companyId === companyId)).toBe(true);
    expect(alone.map((key) => key.label)).toContain('alone');
    expect(await keys.list()).toHaveLength(own.length + alone.length);
  });
});

describe('a change of a key', () => {
  test.each(['id', 'key'] as const)('finds it by its %s', async (by) => {
    const { key, record } = await keys.create('live', { companyId, label: 'found' });
    const handle = by === 'id' ? record.id : key;
    expect(await keys.find(handle)).toEqual(record);
    expect((await keys.revoke(handle))?.revokedAt).toBeInstanceOf(Date);
  });

  test.each([unknown, 'no id at all', 'tk_live_nonsense'])('says so when there is no %s', async (handle) => {
    expect(await keys.find(handle)).toBeUndefined();
    expect(await keys.revoke(handle)).toBeUndefined();
    expect(await keys.expire(handle, null)).toBeUndefined();
    expect(await keys.limit(handle, null)).toBeUndefined();
  });

  test('keeps the time of the first revocation', async () => {
    const { record } = await keys.create('live', { companyId, label: 'twice' });
    const first = await keys.revoke(record.id);
    expect(await keys.revoke(record.id)).toEqual(first);
  });

  test('sets and clears its end and its limit', async () => {
    const { record } = await keys.create('live', { companyId, label: 'changing' });
    const at = new Date('2030-05-05T00:00:00Z');
    expect((await keys.expire(record.id, at))?.expiresAt).toEqual(at);
    expect((await keys.expire(record.id, null))?.expiresAt).toBeNull();
    const limit = { perSecond: 1, burst: 2 };
    expect((await keys.limit(record.id, limit))?.rateLimit).toEqual(limit);
    expect((await keys.limit(record.id, null))?.rateLimit).toBeNull();
  });

  test('is notified with its hash, and so is the making of a key', async ({ database }) => {
    const client = new Client({ connectionString: database.url });
    await client.connect();
    const payloads: (string | undefined)[] = [];
    client.on('notification', ({ payload }) => payloads.push(payload));
    await client.query('LISTEN tallystick_keys');
    const { key, record } = await keys.create('live', { companyId, label: 'loud' });
    await keys.revoke(record.id);
    const hash = hashKey(key).toString('hex');
    await vi.waitFor(() => expect(payloads).toEqual([hash, hash]), 5_000);
    await client.end();
  });
});

describe('the look-up of a verifier', () => {
  const stored = async (database: TestDatabase, key: string) => lookUpKey(database.db, hashKey(key), 5_000);

  test('tells whether a key can be used and for how long', async ({ database }) => {
    const { key, record } = await keys.create('live', { companyId, label: 'looked up' });
    expect(await stored(database, key)).toEqual({
      caller: { keyId: record.id, companyId, rateLimit: null },
      usable: true,
      secondsLeft: Number.POSITIVE_INFINITY,
    });
    await keys.expire(record.id, new Date(Date.now() + 60_000));
    expect((await stored(database, key))?.secondsLeft).toBeCloseTo(60, 0);
    await keys.expire(record.id, new Date(Date.now() - 60_000));
    expect(await stored(database, key)).toMatchObject({ usable: false });
  });

  test.for([
    ['api_keys_hash_key', 'SELECT id FROM api_keys WHERE hash = ?', hashKey('x')],
    ['api_keys_company', 'SELECT id FROM api_keys WHERE company_id = ? ORDER BY created_at, id', 'x'],
  ] as const)('and the list of a company use the index %s', async ([index, sql, value], { database }) => {
    const plan = await database.db.transaction<unknown>(async (tx) => {
      // The table of a test is small enough to be read whole.
      await tx.raw('SET LOCAL enable_seqscan = off');
      return (await tx.raw(`EXPLAIN ${sql}`, [value])).rows;
    });
    expect(JSON.stringify(plan)).toContain(index);
  });
});
