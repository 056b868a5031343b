import { afterAll, describe, expect } from 'vitest';
import { createRemoteVerifier } from '../../src/keys/remote-verifier.ts';
import { createOutgoing } from '../../src/outgoing/outgoing.ts';
import { describeKeyVerifier, expectUnavailable, type KeyService, waitMs } from '../suites/key-verifier.ts';
import { createTestDatabase } from '../support/database.ts';
import { test } from '../support/fixtures.ts';
import { credential } from './auth-server.ts';
import { type BetterAuthServer, startBetterAuth } from './better-auth.ts';
import { startGate } from './tcp-gate.ts';

const options = {
  credential,
  dialect: 'better-auth',
  timeoutMs: waitMs,
  cacheSeconds: 10,
  cacheMax: 100,
  outgoing: createOutgoing(),
} as const;

describeKeyVerifier('remote (Better Auth)', async (): Promise<KeyService> => {
  const { url, close } = await createTestDatabase();
  const server = await startBetterAuth(url);
  const gate = await startGate(server.url);
  return {
    gate,
    verifier: async ({ cacheSeconds }) =>
      createRemoteVerifier({ ...options, url: gate.through(server.url), cacheSeconds }),
    issue: ({ company }) => server.issue({ owner: company ? 'company' : 'person' }),
    issueLimited: {
      rate: () => server.issue({ owner: 'company', rateLimitMax: 1 }),
      usage: () => server.issue({ owner: 'company', remaining: 1 }),
    },
    revoke: ({ id }) => server.disable(id),
    limit: ({ id }, scopes) => server.permit(id, scopes),
    expire: ({ id }, inMs) => server.expire(id, new Date(Date.now() + inMs)),
    unknownKey: 'A'.repeat(64),
    malformedKeys: ['', ' ', 'with space', 'ключ', 'line\nbreak', 'x'.repeat(513)],
    async close() {
      await gate.close();
      await server.close();
      await close();
    },
  };
});

describe('Better Auth without its storage', () => {
  let server: BetterAuthServer;
  test.beforeAll(async ({ databaseUrl }) => {
    server = await startBetterAuth(databaseUrl);
  });
  afterAll(() => server.close());

  test('is an outage, though it calls every key invalid', async () => {
    const { key } = await server.issue({ owner: 'company' });
    const verifier = createRemoteVerifier({ ...options, url: server.url });
    await server.breakStorage();
    for (const outcome of await Promise.allSettled([verifier.verify(key)])) expectUnavailable(outcome);
    await server.mendStorage();
    expect(await verifier.verify(key)).toMatchObject({ ok: true });
    await verifier.close();
  });
});
