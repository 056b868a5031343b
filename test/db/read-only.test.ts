import { describe, expect } from 'vitest';
import { isOutage } from '../../src/db/connection/outage.ts';
import { test } from '../support/fixtures.ts';
import { openPool } from '../support/open-pool.ts';

// Sessions that begin while the setting stands only read for as long as they last, as those of a replica do.
const readOnly = (name: string) => `ALTER DATABASE ${name} SET default_transaction_read_only = on`;
const writable = (name: string) => `ALTER DATABASE ${name} RESET default_transaction_read_only`;
const nameOf = (url: string) => new URL(url).pathname.slice(1);

describe('a server that only reads', () => {
  test('is an outage to whoever writes, and its connection is replaced', async ({ db, databaseUrl }) => {
    await db.raw('CREATE TABLE kept (id int)');
    await db.raw(readOnly(nameOf(databaseUrl)));
    const pool = openPool(databaseUrl);
    const error: unknown = await pool.raw('INSERT INTO kept VALUES (1)').then(
      () => undefined,
      (reason: unknown) => reason,
    );
    expect(isOutage(error)).toBe(true);
    await db.raw(writable(nameOf(databaseUrl)));
    await pool.raw('INSERT INTO kept VALUES (2)');
    expect((await pool.raw('SELECT id FROM kept')).rows).toEqual([{ id: 2 }]);
  });

  test('still answers reads, and writes are told to come again', async ({ db, databaseUrl, acme }) => {
    await db.raw(readOnly(nameOf(databaseUrl)));
    await db.raw(
      'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = ? AND pid <> pg_backend_pid()',
      [nameOf(databaseUrl)],
    );
    await expect
      .poll(async () => (await acme.get('/events/v1/api/event')).status, { timeout: 10_000 })
      .toBe(200);
    const refused = await acme.post('/events/v1/api/event').send({ name: 'Spring fair' });
    expect([refused.status, refused.headers['retry-after']]).toEqual([503, '5']);
    await db.raw(writable(nameOf(databaseUrl)));
    expect((await acme.post('/events/v1/api/event').send({ name: 'Spring fair' })).status).toBe(201);
  });
});
