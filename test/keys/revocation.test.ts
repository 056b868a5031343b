import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect } from 'vitest';
import { issueKey, revokeKey } from '../../src/keys/key-store.ts';
import type { TestDatabase } from '../support/database.ts';
import { test } from '../support/fixtures.ts';
import { moduleCache } from '../support/process.ts';
import { credential } from './auth-server.ts';
import { type BetterAuthServer, startBetterAuth } from './better-auth.ts';
import type { Question, Reply } from './verifier-process.ts';

const script = fileURLToPath(new URL('verifier-process.ts', import.meta.url));
// What is published. Without a notification a key is remembered for 9 s, so more than one must pass.
const promisedMs = 10_000;
const rememberedMs = 1_000;
// A notification takes some milliseconds; the rest is for a busy machine.
const momentMs = 3_000;
let betterAuth: BetterAuthServer;
let postgresTwo: ChildProcess[];
let remoteTwo: ChildProcess[];

test.beforeAll(async ({ database }) => {
  betterAuth = await startBetterAuth(database.url);
  const own = { DATABASE_URL: database.url };
  const remote = { KEY_VERIFIER: 'remote', AUTH_URL: betterAuth.url, AUTH_CREDENTIAL: credential };
  [postgresTwo, remoteTwo] = await Promise.all([startTwo(own), startTwo({ ...own, ...remote })]);
});
afterAll(async () => {
  await Promise.all([...postgresTwo, ...remoteTwo].map(stop));
  await betterAuth.close();
});

/** Two processes, each with a verifier of its own. */
function startTwo(env: NodeJS.ProcessEnv): Promise<ChildProcess[]> {
  return Promise.all(
    [0, 1].map(async () => {
      const options = {
        execArgv: [],
        env: { PATH: process.env['PATH'], AREAS: 'events', ...moduleCache, ...env },
      };
      const child = fork(script, options);
      await once(child, 'message');
      return child;
    }),
  );
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  child.kill();
  await gone;
}

/** Resolves once the key is let in, or is not, in every process: with the time of the last. */
async function untilAll(children: ChildProcess[], question: Question): Promise<number> {
  const replies = children.map(async (child): Promise<Reply> => {
    const reply = once(child, 'message');
    child.send(question);
    // A child answers each question with one reply.
    return (await reply)[0] as Reply;
  });
  const times = (await Promise.all(replies)).map(({ at }) => at);
  return Math.max(...times);
}

/** Milliseconds from the revocation to the refusal in the slower of two processes. */
async function measure(
  children: ChildProcess[],
  key: string,
  revoke: () => Promise<unknown>,
): Promise<number> {
  await untilAll(children, { key, ok: true });
  const revokedAt = revoke().then(() => Date.now());
  const refusedAt = await untilAll(children, { key, ok: false });
  return refusedAt - (await revokedAt);
}

async function ownKey(database: TestDatabase) {
  const { db } = database;
  const { key } = await issueKey(db, 'live', { companyId: null, label: 'measured' });
  return { key, revoke: () => revokeKey(db, key) };
}

const dropTrigger = (database: TestDatabase) =>
  database.db.raw('DROP TRIGGER IF EXISTS api_keys_notify ON api_keys');
const endListeners = (database: TestDatabase) =>
  database.db.raw(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
     WHERE datname = current_database() AND application_name = 'tallystick listener'`,
  );

describe('a revoked key is refused by two processes as soon as', () => {
  test('they are notified', async ({ annotate, database }) => {
    const { key, revoke } = await ownKey(database);
    const took = await measure(postgresTwo, key, revoke);
    await annotate(`${took} ms`);
    expect(took).toBeLessThan(momentMs);
  });
});

// Each has processes of its own, so both may wait at the same time.
describe.concurrent('a revoked key is refused by two processes within 10 seconds', () => {
  const expectPromiseKept = (took: number) => {
    expect(took).toBeLessThan(promisedMs);
    // Less would mean that it was not remembered, and that nothing was measured.
    expect(took).toBeGreaterThan(rememberedMs);
  };

  test('when no notification comes', async ({ annotate, database }) => {
    await dropTrigger(database);
    const { key, revoke } = await ownKey(database);
    const took = await measure(postgresTwo, key, revoke);
    await annotate(`${took} ms`);
    expectPromiseKept(took);
  });

  test('when it was disabled in Better Auth', async ({ annotate }) => {
    const { key, id } = await betterAuth.issue({ owner: 'company' });
    const took = await measure(remoteTwo, key, () => betterAuth.disable(id));
    await annotate(`${took} ms`);
    expectPromiseKept(took);
  });
});

// Last, for connections that come back empty the caches too.
describe('without notifications, a revoked key is refused by two processes as soon as', () => {
  test('the connection is lost that would have told them', async ({ annotate, database }) => {
    await dropTrigger(database);
    const { key, revoke } = await ownKey(database);
    const took = await measure(postgresTwo, key, () => revoke().then(() => endListeners(database)));
    await annotate(`${took} ms`);
    expect(took).toBeLessThan(momentMs);
  });
});
