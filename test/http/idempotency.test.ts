import type { Express } from 'express';
import supertest from 'supertest';
import { describe, expect } from 'vitest';
import { problem } from '../../src/base/errors.ts';
import type { Database } from '../../src/contract/transaction.ts';
import { purgeExpired } from '../../src/db/records/housekeeping.ts';
import type { KeyVerifier } from '../../src/keys/verifier.ts';
import { test as base, perFile } from '../support/fixtures.ts';
import { callerOf, type FixtureHandler, fixtureApp } from './support.ts';

/** Every key belongs to the company that is called like it. */
const verifier: KeyVerifier = {
  verify: async (key) => ({ ok: true, caller: callerOf(key, key) }),
  close: async () => {},
};

type Gate = { readonly entered: () => void; readonly pass: Promise<void> };
const gates: Gate[] = [];

/** Does its work once; waits at the next gate, if there is one, with its transaction open. */
const createThing: FixtureHandler = async ({ body }, { once }) =>
  once(async (tx) => {
    const { name } = body as { name: string }; // as the document says
    if (name === 'refused') throw problem('event_full');
    const [row] = await tx('work').insert({ name }).returning('id');
    const gate = gates.shift();
    gate?.entered();
    await gate?.pass;
    if (name === 'broken') throw new Error('broken');
    return {
      status: 201,
      body: { id: row.id, name },
      headers: { Location: `/thing/${row.id}`, ETag: '"1"' },
    };
  });

const appOn = (db: Database) => fixtureApp({ db, verifier, handlers: { createThing } });
const test = base
  .extend('here', perFile, ({ db }) => appOn(db))
  .extend('there', perFile, ({ db }) => appOn(db));
test.beforeAll(({ db }) => db.raw('CREATE TABLE work (id serial PRIMARY KEY, name text)'));
test.beforeEach(({ db }) => db.raw('TRUNCATE work; TRUNCATE idempotency_records'));

function post(app: Express, name: string, key?: string, { company = 'acme', text = '' } = {}) {
  const call = supertest(app).post('/api/thing').set('x-api-key', company).type('application/json');
  if (key !== undefined) call.set('idempotency-key', key);
  return call.send(text || JSON.stringify({ name }));
}

const rows = async (db: Database) => Number((await db('work').count('* as count').first())?.['count']);

test('the nil UUID of the documents is no key: tools that send their examples get a new thing each time', async ({
  db,
  here,
}) => {
  const nil = '00000000-0000-0000-0000-000000000000';
  const answers = [await post(here, 'a', nil), await post(here, 'a', nil), await post(here, 'b', nil)];
  expect(answers.map(({ status }) => status)).toEqual([201, 201, 201]);
  expect(await rows(db)).toBe(3);
});

describe('a repeated request with one Idempotency-Key', () => {
  test('is answered alike, says so, and does nothing', async ({ db, here, there }) => {
    const first = await post(here, 'a', 'k');
    const second = await post(there, 'a', 'k');
    expect(first.headers).not.toHaveProperty('idempotency-replayed');
    expect(second.headers['idempotency-replayed']).toBe('true');
    expect([second.status, second.body]).toEqual([first.status, first.body]);
    for (const name of ['location', 'etag']) expect(second.headers[name]).toBe(first.headers[name]);
    expect(await rows(db)).toBe(1);
  });

  test('is the same in whatever order and spacing its fields come', async ({ here }) => {
    await post(here, '', 'k', { text: '{"name":"a","data":{"x":1,"y":[1,2]}}' });
    const again = await post(here, '', 'k', { text: ' { "data":{"y":[1,2],"x":1.0}, "name":"\\u0061" }' });
    expect(again.headers['idempotency-replayed']).toBe('true');
  });

  test.for(['{"name":"b"}', '{"name":"a","count":1}', '{"name":"a","data":{"x":2}}'])(
    'is 422 with another body: %s',
    async (text, { db, here }) => {
      await post(here, '', 'k', { text: '{"name":"a","data":{"x":1}}' });
      const other = await post(here, '', 'k', { text });
      expect([other.status, other.body.code]).toEqual([422, 'idempotency_key_reused']);
      expect(await rows(db)).toBe(1);
    },
  );

  test('is another one for another company', async ({ db, here }) => {
    await post(here, 'a', 'k');
    const other = await post(here, 'a', 'k', { company: 'globex' });
    expect(other.headers).not.toHaveProperty('idempotency-replayed');
    expect(await rows(db)).toBe(2);
  });

  test('is done anew without the key', async ({ db, here }) => {
    await post(here, 'a');
    await post(here, 'a');
    expect(await rows(db)).toBe(2);
    expect(await db('idempotency_records')).toEqual([]);
  });
});

describe('what failed', () => {
  test.for([
    ['refused', 409],
    ['broken', 500],
  ] as const)('is not kept and may be tried again: %s', async ([name, status], { db, here }) => {
    expect((await post(here, name, 'k')).status).toBe(status);
    expect((await post(here, name, 'k')).status).toBe(status);
    expect(await db('idempotency_records')).toEqual([]);
    expect(await rows(db)).toBe(0);
    expect((await post(here, 'a', 'k')).status).toBe(201);
  });

  test('before the handler is not kept either', async ({ here }) => {
    expect((await post(here, '', 'k')).status).toBe(400);
    expect((await post(here, 'a', 'k')).status).toBe(201);
  });
});

describe('two requests with one key at the same time', () => {
  test('run once: the other one is 409 with Retry-After, in another process too', async ({ here, there }) => {
    const entered = Promise.withResolvers<void>();
    const pass = Promise.withResolvers<void>();
    gates.push({ entered: entered.resolve, pass: pass.promise });
    const first = post(here, 'a', 'k').then((response) => response);
    await entered.promise;
    for (const app of [here, there]) {
      const second = await post(app, 'a', 'k');
      expect([second.status, second.body.code]).toEqual([409, 'idempotency_in_progress']);
      expect(Number(second.headers['retry-after'])).toBeGreaterThanOrEqual(1);
    }
    expect((await post(there, 'a', 'other')).status).toBe(201);
    pass.resolve();
    expect((await first).status).toBe(201);
    expect((await post(there, 'a', 'k')).headers['idempotency-replayed']).toBe('true');
  });

  test('of forty over two apps, one works and all others are told or replayed', async ({
    db,
    here,
    there,
  }) => {
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, index) => post(index % 2 === 0 ? here : there, 'a', 'k')),
    );
    const worked = answers.filter(
      ({ status, headers }) => status === 201 && !headers['idempotency-replayed'],
    );
    expect(worked).toHaveLength(1);
    expect(answers.every(({ status }) => status === 201 || status === 409)).toBe(true);
    expect(await rows(db)).toBe(1);
  });
});

describe('a record', () => {
  const age = (db: Database) =>
    db('idempotency_records').update({ expires_at: db.raw("now() - interval '1 second'") });

  test('expires after 24 hours and is then replaced', async ({ db, here }) => {
    await post(here, 'a', 'k');
    const kept = await db('idempotency_records').first(db.raw('expires_at - created_at AS kept'));
    expect(kept.kept.toPostgres?.() ?? String(kept.kept)).toMatch(/24|1 day/);
    await age(db);
    const anew = await post(here, 'b', 'k');
    expect(anew.headers).not.toHaveProperty('idempotency-replayed');
    expect((await post(here, 'b', 'k')).body).toEqual(anew.body);
    expect(await rows(db)).toBe(2);
  });

  test('is purged once it has expired, a bounded number at a time', async ({ db, here }) => {
    for (const key of ['a', 'b', 'c']) await post(here, 'a', key);
    await age(db);
    await post(here, 'a', 'fresh');
    expect(await purgeExpired(db, 2)).toBe(2);
    expect(await purgeExpired(db, 2)).toBe(1);
    expect(await db('idempotency_records').select('key')).toEqual([{ key: 'fresh' }]);
  });
});

describe('an answer with a secret', () => {
  test('is kept without it and restored', async ({ db }) => {
    const handler: FixtureHandler = (_input, { once }) =>
      once(async () => ({ status: 200, body: { id: 7, secret: 'hush' } }), {
        store: (body) => ({ id: (body as { id: number }).id }), // the body made above
        restore: async (tx, stored) => {
          await tx.raw('SELECT 1');
          return { ...(stored as { id: number }), secret: 'hush' }; // what store made
        },
      });
    const app = await fixtureApp({ db, verifier, handlers: { createThing: handler } });
    const first = await post(app, 'a', 'k');
    const second = await post(app, 'a', 'k');
    expect(second.body).toEqual(first.body);
    expect(JSON.stringify(await db('idempotency_records'))).not.toContain('hush');
  });
});
