import { describe, expect } from 'vitest';
import type { Database } from '../../src/contract/transaction.ts';
import { insertCompany } from '../../src/keys/company-store.ts';
import { hashKey } from '../../src/keys/key-format.ts';
import { countActiveKeys, issueKey, listKeys } from '../../src/keys/key-store.ts';
import { test } from '../support/fixtures.ts';
import { rowsReadBy } from '../support/statements.ts';

let db: Database;
let companyId: string;

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
});

describe('the list of keys', () => {
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
