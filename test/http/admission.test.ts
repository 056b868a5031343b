import supertest, { type Test } from 'supertest';
import { describe, expect, onTestFinished, vi } from 'vitest';
import { currentScope, inScope } from '../../src/base/request-scope.ts';
import { inTransaction } from '../../src/db/connection/transaction.ts';
import { admitWork } from '../../src/http/dispatch/admitted-work.ts';
import type { Exchange } from '../../src/http/dispatch/exchange.ts';
import { createAdmission } from '../../src/http/server/admission.ts';
import { test } from '../support/fixtures.ts';
import { address, callerOf, type FixtureHandler, fixtureApp, id } from './support.ts';

const scope = { signal: new AbortController().signal };
type Options = Parameters<typeof createAdmission>[0];

function open(options: Partial<Options> = {}) {
  const admission = createAdmission({ requests: 8, waitMs: 50, maxDelayMs: 10_000, ...options });
  onTestFinished(() => admission.close());
  return admission;
}

/** An app of two companies, `acme` and `globex`, whose requests end when they are told to. */
async function heldApp(options: Partial<Options> = {}) {
  const held = Promise.withResolvers<void>();
  const begun = { things: 0, lists: 0 };
  const getThing: FixtureHandler = async () => {
    begun.things += 1;
    await held.promise;
    return { status: 200, body: {} };
  };
  const listThings: FixtureHandler = async () => {
    begun.lists += 1;
    await held.promise;
    return { status: 200, body: [] };
  };
  const app = await fixtureApp({
    admission: open(options),
    verifier: {
      verify: async (company) => ({ ok: true, caller: callerOf(company, company) }),
      close: async () => {},
    },
    handlers: { getThing, listThings },
  });
  const server = supertest(app.listen(0, '127.0.0.1').unref());
  const send = (asked: Test, company: string) => asked.set('x-api-key', company).then((answer) => answer);
  const get = (company: string) => send(server.get(`/api/thing/${id}`), company);
  const list = (company: string, limit: number) =>
    send(server.get(`/api/thing?chainId=1&address=${address}&limit=${limit}`), company);
  return { begun, get, list, end: held.resolve };
}

describe('requests in flight', () => {
  // What is a quarter, and when others ask, the tests of the semaphore say, by a clock of their own.
  test('leave room for another company, and are 503 beyond', async () => {
    const { begun, get, end } = await heldApp();
    const globex = get('globex');
    await vi.waitFor(() => expect(begun.things).toBe(1));
    const acme = Array.from({ length: 6 }, () => get('acme'));
    const refused = (await Promise.race(acme)).headers;
    expect(refused).toMatchObject({ 'retry-after': '1', 'content-type': 'application/problem+json' });
    const before = begun.things;
    expect(before).toBeLessThan(7);
    const more = get('globex');
    await vi.waitFor(() => expect(begun.things).toBe(before + 1));
    end();
    const statuses = (await Promise.all(acme)).map(({ status }) => status);
    expect(new Set(statuses)).toEqual(new Set([200, 503]));
    for (const { status } of await Promise.all([globex, more])) expect(status).toBe(200);
  });

  test('are refused by the problem of the documents', async () => {
    const { begun, get, end } = await heldApp({ requests: 1 });
    const first = get('acme');
    await vi.waitFor(() => expect(begun.things).toBe(1));
    const { status, body } = await get('acme');
    expect([status, body.code]).toEqual([503, 'overloaded']);
    end();
    expect((await first).status).toBe(200);
    expect((await get('acme')).status).toBe(200);
  });

  test('wait for nobody while the event loop is late', async () => {
    const { admit } = open({ requests: 1, waitMs: 60_000, maxDelayMs: 1 });
    await admit('acme', scope);
    const working = setInterval(() => {
      const until = performance.now() + 30;
      while (performance.now() < until);
    }, 1);
    onTestFinished(() => clearInterval(working));
    // What was asked before the delay showed waits on, and nobody waits for that.
    const ask = () => Promise.resolve(admit('acme', scope)).catch(() => {});
    await vi.waitFor(() => expect(ask).toThrow('too much to do'), 20_000);
  });
});

describe('a request that was away', () => {
  test('gives its place to others, and has another one in its transactions', async ({ db }) => {
    const back = Promise.withResolvers<void>();
    const { admit } = open({ requests: 1 });
    const exchange: Exchange = { request: {}, response: {}, facts: {} } as never; // nothing else of it is read
    const work = { ...scope, tenant: 'acme', isRead: false };
    const changed = inScope(work, async () => {
      admitWork({ admit } as never, exchange);
      currentScope()?.onAway?.();
      await back.promise;
      return inTransaction(db, async () => 'changed');
    });
    const other = await admit('globex', scope);
    back.resolve();
    await expect(changed).rejects.toMatchObject({ code: 'overloaded' });
    other();
    const again = inScope({ ...work }, async () => {
      admitWork({ admit } as never, exchange);
      currentScope()?.onAway?.();
      return inTransaction(db, async () => 'changed');
    });
    expect(await again).toBe('changed');
    await expect(Promise.resolve(admit('globex', scope))).rejects.toMatchObject({ code: 'overloaded' });
    exchange.release?.();
    await admit('globex', scope);
  });
});

describe('large responses', () => {
  test('are two at a time for a company while others ask', async () => {
    const { begun, get, list, end } = await heldApp({ requests: 80 });
    const globex = get('globex');
    await vi.waitFor(() => expect(begun.things).toBe(1));
    const acme = Array.from({ length: 4 }, () => list('acme', 100));
    const small = [list('acme', 99), get('acme')];
    await vi.waitFor(() => expect(begun).toEqual({ things: 2, lists: 3 }));
    end();
    const all = await Promise.all([globex, ...acme, ...small]);
    expect(all.map(({ status }) => status)).toEqual(all.map(() => 200));
    expect(begun.lists).toBe(5);
  });
});
