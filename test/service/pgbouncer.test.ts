import { randomUUID } from 'node:crypto';
import { describe, expect, vi } from 'vitest';
import { createLogger } from '../../src/base/log.ts';
import { createDatabase } from '../../src/db/connection/connect.ts';
import { isOutage } from '../../src/db/connection/outage.ts';
import { inTransaction } from '../../src/db/connection/transaction.ts';
import { issueKey, revokeKey } from '../../src/keys/key-store.ts';
import { addRwa } from '../rwa/samples.ts';
import { users } from '../support/database.ts';
import { test as base, perFile } from '../support/fixtures.ts';
import { hasPgbouncer, startPgbouncer } from '../support/pgbouncer.ts';
import { startMain } from '../support/process.ts';
import { startServiceOn } from '../support/service.ts';

const log = createLogger({ level: 'silent' });

const test = base
  .extend('bouncer', perFile, async ({ databaseUrl }, { onCleanup }) => {
    const bouncer = await startPgbouncer(databaseUrl, users);
    onCleanup(() => bouncer.close());
    return bouncer;
  })
  .extend('pooled', perFile, async ({ bouncer, database, databaseUrl }, { onCleanup }) => {
    const service = await startServiceOn(
      { ...database, url: bouncer.through(databaseUrl) },
      { settings: { DATABASE_SESSION_URL: databaseUrl, DATABASE_POOL_MAX: '20' } },
    );
    onCleanup(() => service.close());
    return service;
  });

describe.skipIf(!hasPgbouncer)(
  'behind PgBouncer in transaction mode (skipped where it is not installed)',
  () => {
    test('mints that come at once are accepted, each once, and repeats by key are replayed', async ({
      pooled,
    }) => {
      const rwa = await addRwa(pooled.db, pooled.companies.acme, { isClaimable: true });
      const acme = pooled.as(pooled.keys.acme);
      const keys = Array.from({ length: 150 }, () => randomUUID());
      const mint = (key: string) =>
        acme.post(`/v1/api/rwa/${rwa.id}/mint`).set('idempotency-key', key).send({}).expect(200);
      const answers = await Promise.all(keys.map(mint));
      const ids = answers.map(({ body }) => body.nftId);
      expect(new Set(ids).size).toBe(keys.length);
      const replayed = await Promise.all(keys.map(mint));
      expect(replayed.map(({ body }) => body.nftId)).toEqual(ids);
      expect(await pooled.db('nfts').where({ rwa_id: rwa.id })).toHaveLength(keys.length);
    });

    test('a transaction has its limits, and leaves none behind in the shared session', async ({
      bouncer,
      databaseUrl,
    }) => {
      const url = bouncer.through(databaseUrl);
      const db = createDatabase(url, { poolMax: 8, log, sessionUrl: databaseUrl });
      const show = (tx: typeof db) => tx.raw("SELECT current_setting('lock_timeout') AS value");
      const values = await Promise.all(
        Array.from({ length: 40 }, (_, index) => (index % 2 === 0 ? inTransaction(db, show) : show(db))),
      );
      expect(values.map(({ rows }) => rows[0].value)).toEqual(
        values.map((_, index) => (index % 2 === 0 ? '2s' : '0')),
      );
      await db.destroy();
    });

    test('a locked row refuses who waits for it', async ({ bouncer, databaseUrl, db: direct }) => {
      const db = createDatabase(bouncer.through(databaseUrl), { poolMax: 2, log, sessionUrl: databaseUrl });
      await direct.raw('CREATE TABLE locked (id int); INSERT INTO locked VALUES (1)');
      const holder = await direct.transaction();
      await holder.raw('SELECT FROM locked FOR UPDATE');
      const refused = await inTransaction(db, (tx) => tx.raw('SELECT FROM locked FOR UPDATE')).catch(
        (error: unknown) => error,
      );
      expect(isOutage(refused)).toBe(true);
      await holder.rollback();
      await db.destroy();
    });

    test('a revoked key is told of at once, on the connection for sessions', async ({ pooled }) => {
      const { key, record } = await issueKey(pooled.db, 'test', { companyId: null, label: 'short-lived' });
      const caller = pooled.as(key);
      await caller.get('/v1/api/rwa').expect(403);
      await revokeKey(pooled.db, record.id);
      // Without the notification it would take the 10 s for which an outcome is remembered.
      await vi.waitFor(() => caller.get('/v1/api/rwa').expect(401), { timeout: 8_000, interval: 20 });
    });

    test('all roles start, become ready and stop', async ({ bouncer, databaseUrl }) => {
      // The NFTs of this file have secrets of this key.
      const SECRET_KEYS = `test:${Buffer.alloc(32, 7).toString('base64')}`;
      const main = startMain(bouncer.through(databaseUrl), {
        DATABASE_SESSION_URL: databaseUrl,
        SECRET_KEYS,
      });
      const [, port] = await main.until(/"port":(\d+)/);
      expect((await fetch(`http://127.0.0.1:${port}/readyz`)).status).toBe(200);
      main.child.kill('SIGTERM');
      expect(await main.ended).toBe(0);
      expect(main.output()).not.toMatch(/"level":"(error|fatal)"/);
    });
  },
);
