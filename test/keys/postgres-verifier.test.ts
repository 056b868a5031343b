import { randomBytes } from 'node:crypto';
import { describe, expect, onTestFinished, vi } from 'vitest';
import { createLogger } from '../../src/base/log.ts';
import { createDatabase } from '../../src/db/connection/connect.ts';
import { createNotifications } from '../../src/db/connection/notifications.ts';
import { insertCompany } from '../../src/keys/company-store.ts';
import { generateKey } from '../../src/keys/key-format.ts';
import {
  issueKey,
  revokeKey,
  setKeyExpiry,
  setKeyRateLimit,
  setKeyScopes,
} from '../../src/keys/key-store.ts';
import { createPostgresVerifier } from '../../src/keys/postgres-verifier.ts';
import type { KeyVerifier } from '../../src/keys/verifier.ts';
import { describeKeyVerifier, expectUnavailable, type KeyService, waitMs } from '../suites/key-verifier.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { test } from '../support/fixtures.ts';
import { waitFor } from '../support/wait-for.ts';
import { startGate } from './tcp-gate.ts';

const log = createLogger({ level: 'silent' });

describeKeyVerifier('postgres', async (): Promise<KeyService> => {
  const { db, url, close } = await createTestDatabase();
  const gate = await startGate(url);
  const { id: companyId } = await insertCompany(db, { name: 'acme' });
  const good = generateKey('live');

  return {
    gate,
    async verifier({ cacheSeconds }) {
      const gated = gate.through(url);
      const own = createDatabase(gated, { poolMax: 3, log });
      const notifications = createNotifications({ url: gated, log });
      const options = {
        db: own,
        notifications,
        environment: 'live',
        cacheSeconds,
        cacheMax: 100,
        lookUpsAtOnce: 1,
      };
      const verifier = await createPostgresVerifier({ ...options, timeoutMs: waitMs });
      return {
        verify: verifier.verify,
        async close() {
          await verifier.close();
          await notifications.close();
          await own.destroy();
        },
      };
    },
    async issue({ company }) {
      const given = { companyId: company ? companyId : null, label: 'issued' };
      const { key, record } = await issueKey(db, 'live', given);
      return { key, id: record.id, companyId: record.companyId };
    },
    async revoke({ id }) {
      await revokeKey(db, id);
    },
    async limit({ id }, scopes) {
      await db('api_keys').where({ id }).update({ scopes });
    },
    async expire({ id }, inMs) {
      await setKeyExpiry(db, id, new Date(Date.now() + inMs));
    },
    unknownKey: good,
    malformedKeys: [
      '',
      'x',
      'tk_live_',
      generateKey('test'),
      `${good.slice(0, -1)}~`,
      ` ${good}`,
      `${good}0`,
    ],
    async close() {
      await gate.close();
      await close();
    },
  };
});

describe('the key store tells the postgres verifier', () => {
  const open = async ({ url, db }: Pick<TestDatabase, 'url' | 'db'>): Promise<KeyVerifier> => {
    const notifications = createNotifications({ url, log });
    const cache = { cacheSeconds: 10, cacheMax: 100, lookUpsAtOnce: 2 };
    const { close, ...verifier } = await createPostgresVerifier({
      db,
      notifications,
      environment: 'live',
      ...cache,
    });
    return {
      ...verifier,
      async close() {
        await close();
        await notifications.close();
      },
    };
  };
  // Without the notification it would take the 10 s for which an outcome is remembered.
  const soon = { timeout: 8_000, interval: 10 };

  test('of a new key, whose remembered refusal ends at once', async ({ database }) => {
    const bytes = randomBytes(30);
    const random = () => bytes;
    const verifier = await open(database);
    expect(await verifier.verify(generateKey('live', random))).toMatchObject({ ok: false });
    const { key } = await issueKey(database.db, 'live', { companyId: null, label: 'new' }, random);
    await vi.waitFor(async () => expect(await verifier.verify(key)).toMatchObject({ ok: true }), soon);
    await verifier.close();
  });

  test('of a changed limit, which the caller carries', async ({ database }) => {
    const limit = { perSecond: 5, burst: 20 };
    const given = { companyId: null, label: 'limited', rateLimit: limit };
    const { key, record } = await issueKey(database.db, 'live', given);
    const verifier = await open(database);
    const caller = { keyId: record.id, companyId: null, scopes: null, eventId: null };
    expect(verifier.known?.(key)).toBeUndefined();
    expect(await verifier.verify(key)).toEqual({ ok: true, caller: { ...caller, rateLimit: limit } });
    expect(verifier.known?.(key)).toEqual({ ...caller, rateLimit: limit });
    await setKeyRateLimit(database.db, record.id, null);
    const unlimited = { ok: true, caller: { ...caller, rateLimit: null } };
    await vi.waitFor(async () => expect(await verifier.verify(key)).toEqual(unlimited), soon);
    expect(verifier.known?.(key)).toEqual(unlimited.caller);
    await verifier.close();
  });

  test('of changed scopes, which the caller carries', async ({ database }) => {
    const given = { companyId: null, label: 'scoped', scopes: ['chain:read'] };
    const { key, record } = await issueKey(database.db, 'live', given);
    const verifier = await open(database);
    expect(await verifier.verify(key)).toMatchObject({ caller: { scopes: ['chain:read'] } });
    await setKeyScopes(database.db, record.id, ['events:read', 'of:tomorrow']);
    const changed = { caller: { scopes: ['events:read'] } };
    await vi.waitFor(async () => expect(await verifier.verify(key)).toMatchObject(changed), soon);
    expect(verifier.known?.(key)).toMatchObject(changed.caller);
    await verifier.close();
  });

  test('of a revoked key, which ends at once in each of two processes', async ({ database }) => {
    const { key, record } = await issueKey(database.db, 'live', { companyId: null, label: 'revoked' });
    const two = [await open(database), await open(database)];
    for (const { verify } of two) expect(await verify(key)).toMatchObject({ ok: true });
    await revokeKey(database.db, record.id);
    for (const { verify, close } of two) {
      await vi.waitFor(async () => expect(await verify(key)).toMatchObject({ ok: false }), soon);
      await close();
    }
  });

  test('nothing where its trigger is gone: a revoked key ends within 10 seconds, or when the connection is lost', async ({
    otherDatabase: { db, url },
  }) => {
    await db.raw('DROP TRIGGER api_keys_notify ON api_keys');
    const verifier = await open({ db, url });
    const revoked = async () => {
      const { key, record } = await issueKey(db, 'live', { companyId: null, label: 'silent' });
      expect(await verifier.verify(key)).toMatchObject({ ok: true });
      await revokeKey(db, record.id);
      expect(await verifier.verify(key)).toMatchObject({ ok: true });
      return key;
    };
    const late = await revoked();
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 10_000 });
    onTestFinished(() => void vi.useRealTimers());
    expect(await verifier.verify(late)).toMatchObject({ ok: false });
    vi.useRealTimers();
    const unheard = await revoked();
    await db.raw(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
       WHERE datname = current_database() AND application_name = 'tallystick listener'`,
    );
    await vi.waitFor(async () => expect(await verifier.verify(unheard)).toMatchObject({ ok: false }), soon);
    await verifier.close();
  });

  test('once it is there, though the verifier started before', async ({ database }) => {
    const { key } = await issueKey(database.db, 'live', { companyId: null, label: 'early' });
    const gate = await startGate(database.url);
    gate.refuse();
    const url = gate.through(database.url);
    const db = createDatabase(url, { poolMax: 1, log });
    const verifier = await open({ url, db });
    for (const outcome of await Promise.allSettled([verifier.verify(key)])) expectUnavailable(outcome);
    gate.open();
    await waitFor(async () => expect(await verifier.verify(key)).toMatchObject({ ok: true }));
    await verifier.close();
    await db.destroy();
    await gate.close();
  });
});

test('look-ups of the postgres verifier take no more of the pool than they may', async ({ database, db }) => {
  const own = createDatabase(database.url, { poolMax: 10, log });
  const notifications = createNotifications({ url: database.url, log });
  const cache = { cacheSeconds: 10, cacheMax: 100, lookUpsAtOnce: 2, timeoutMs: 20_000 };
  const verifier = await createPostgresVerifier({ db: own, notifications, environment: 'live', ...cache });
  const answers = await db.transaction(async (tx) => {
    await tx.raw('LOCK TABLE api_keys IN ACCESS EXCLUSIVE MODE');
    const asked = Array.from({ length: 50 }, (_, index) =>
      verifier.verify(generateKey('live'), { network: `network ${index}` }),
    );
    await waitFor(() => expect(own.client.pool.numUsed()).toBe(2));
    await own.raw('SELECT 1');
    expect(own.client.pool.numUsed()).toBe(2);
    return asked;
  });
  expect(new Set((await Promise.all(answers)).map(({ ok }) => ok))).toEqual(new Set([false]));
  await verifier.close();
  await notifications.close();
  await own.destroy();
});
