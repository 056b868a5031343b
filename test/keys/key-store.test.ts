import { Client } from 'pg';
import { describe, expect } from 'vitest';
import type { Database } from '../../src/contract/transaction.ts';
import { insertCompany } from '../../src/keys/company-store.ts';
import { hashKey } from '../../src/keys/key-format.ts';
import { lookUpKey } from '../../src/keys/key-lookup-store.ts';
import {
  countActiveKeys,
  findKey,
  issueKey,
  listKeys,
  revokeKey,
  setKeyExpiry,
  setKeyRateLimit,
} from '../../src/keys/key-store.ts';
import { test } from '../support/fixtures.ts';
import { rowsReadBy } from '../support/statements.ts';
import { waitFor } from '../support/wait-for.ts';

let db: Database;
let companyId: string;
const unknown = '00000000-0000-4000-8000-000000000000';

test.beforeAll(async ({ database }) => {
  db = database.db;
  companyId = (await insertCompany(db, { name: 'acme' })).id;
});

describe('a new key', () => {
  test('is told once and kept only as a hash', async () => {
    const { key, record } = await issueKey(db, 'live', { companyId, label: 'shop' });
    expect(record).toMatchObject({ companyId, companyName: 'acme', label: 'shop', rateLimit: null });
    expect(record.hint).toBe(`${key.slice(0, 12)}…`);
    const { rows } = await db.raw('SELECT api_keys::text AS row, hash FROM api_keys WHERE id = ?', [
      record.id,
    ]);
    expect(rows[0].hash).toEqual(hashKey(key));
    expect(rows[0].row).not.toContain(key.slice(12));
    expect(JSON.stringify(await listKeys(db))).not.toContain(key.slice(12));
  });

  test('may have no company, a limit of its own and an end', async () => {
    const expiresAt = new Date('2099-01-01T00:00:00Z');
    const rateLimit = { perSecond: 5, burst: 20 };
    const { record } = await issueKey(db, 'live', { companyId: null, label: 'guest', rateLimit, expiresAt });
    expect(record).toMatchObject({ companyId: null, companyName: null, rateLimit, expiresAt });
  });

  test('is refused for a company that does not exist', async () => {
    await expect(issueKey(db, 'live', { companyId: 'nobody', label: 'x' })).rejects.toThrow(/foreign key/);
  });
});

describe('the list of keys', () => {
  test('is narrowed to a company, or to those without one', async () => {
    await issueKey(db, 'live', { companyId: null, label: 'alone' });
    const own = await listKeys(db, { companyId });
    const alone = await listKeys(db, { companyId: null });
    expect(own.length).toBeGreaterThan(0);
    expect(own.every((key) => key.companyId === companyId)).toBe(true);
    expect(alone.map((key) => key.label)).toContain('alone');
    expect(await listKeys(db)).toHaveLength(own.length + alone.length);
  });

  test('is read as far as the page, after any key', async () => {
    await db.raw(
      `INSERT INTO api_keys (company_id, label, hint, hash, created_at, expires_at)
       SELECT ?, 'many', 'tk', sha256(n::text::bytea), now() + n / 5 * interval '1 microsecond',
         CASE WHEN n % 2 = 0 THEN now() END
       FROM generate_series(1, 5000) n`,
      [companyId],
    );
    await db.raw('ANALYZE api_keys');
    for (const filter of [{}, { companyId }]) {
      const all = await listKeys(db, filter);
      for (const from of [0, 2_002]) {
        const list = () => listKeys(db, { ...filter, after: all[from - 1]?.id, limit: 10 });
        expect(await list()).toEqual(all.slice(from, from + 10));
        expect(await rowsReadBy(db, 'api_keys', list)).toBeLessThan(30);
      }
    }
    const active = (await listKeys(db)).filter(
      ({ expiresAt }) => expiresAt === null || expiresAt > new Date(),
    );
    expect(await countActiveKeys(db)).toBe(active.length);
    await db('api_keys').where({ label: 'many' }).delete();
  });
});

describe('a change of a key', () => {
  test.each(['id', 'key'] as const)('finds it by its %s', async (by) => {
    const { key, record } = await issueKey(db, 'live', { companyId, label: 'found' });
    const handle = by === 'id' ? record.id : key;
    expect(await findKey(db, handle)).toEqual(record);
    expect((await revokeKey(db, handle))?.revokedAt).toBeInstanceOf(Date);
  });

  test.each([unknown, 'no id at all', 'tk_live_nonsense'])('says so when there is no %s', async (handle) => {
    expect(await findKey(db, handle)).toBeUndefined();
    expect(await revokeKey(db, handle)).toBeUndefined();
    expect(await setKeyExpiry(db, handle, null)).toBeUndefined();
    expect(await setKeyRateLimit(db, handle, null)).toBeUndefined();
  });

  test('keeps the time of the first revocation', async () => {
    const { record } = await issueKey(db, 'live', { companyId, label: 'twice' });
    const first = await revokeKey(db, record.id);
    expect(await revokeKey(db, record.id)).toEqual(first);
  });

  test('sets and clears its end and its limit', async () => {
    const { record } = await issueKey(db, 'live', { companyId, label: 'changing' });
    const at = new Date('2030-05-05T00:00:00Z');
    expect((await setKeyExpiry(db, record.id, at))?.expiresAt).toEqual(at);
    expect((await setKeyExpiry(db, record.id, null))?.expiresAt).toBeNull();
    const limit = { perSecond: 1, burst: 2 };
    expect((await setKeyRateLimit(db, record.id, limit))?.rateLimit).toEqual(limit);
    expect((await setKeyRateLimit(db, record.id, null))?.rateLimit).toBeNull();
  });

  test('is notified with its hash, and so is the making of a key', async ({ database }) => {
    const client = new Client({ connectionString: database.url });
    await client.connect();
    const payloads: (string | undefined)[] = [];
    client.on('notification', ({ payload }) => payloads.push(payload));
    await client.query('LISTEN tallystick_keys');
    const { key, record } = await issueKey(db, 'live', { companyId, label: 'loud' });
    await revokeKey(db, record.id);
    const hash = hashKey(key).toString('hex');
    await waitFor(() => expect(payloads).toEqual([hash, hash]));
    await client.end();
  });
});

describe('the look-up of a verifier', () => {
  const stored = async (key: string) => lookUpKey(db, hashKey(key), 5_000);

  test('tells whether a key can be used and for how long', async () => {
    const { key, record } = await issueKey(db, 'live', { companyId, label: 'looked up' });
    expect(await stored(key)).toEqual({
      caller: { keyId: record.id, companyId, rateLimit: null },
      usable: true,
      secondsLeft: Number.POSITIVE_INFINITY,
    });
    await setKeyExpiry(db, record.id, new Date(Date.now() + 60_000));
    expect((await stored(key))?.secondsLeft).toBeCloseTo(60, 0);
    await setKeyExpiry(db, record.id, new Date(Date.now() - 60_000));
    expect(await stored(key)).toMatchObject({ usable: false });
  });

  test.each([
    ['api_keys_hash_key', 'SELECT id FROM api_keys WHERE hash = ?', hashKey('x')],
    ['api_keys_company', 'SELECT id FROM api_keys WHERE company_id = ? ORDER BY created_at, id', 'x'],
  ])('and the list of a company use the index %s', async (index, sql, value) => {
    const plan = await db.transaction<unknown>(async (tx) => {
      // The table of a test is small enough to be read whole.
      await tx.raw('SET LOCAL enable_seqscan = off');
      return (await tx.raw(`EXPLAIN ${sql}`, [value])).rows;
    });
    expect(JSON.stringify(plan)).toContain(index);
  });
});
