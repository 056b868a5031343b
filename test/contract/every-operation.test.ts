import { afterAll, beforeAll, describe, expect } from 'vitest';
import { startGate } from '../keys/tcp-gate.ts';
import { test as base, perFile } from '../support/fixtures.ts';
import { indexChain } from '../support/index-chain.ts';
import { startService, type TestService } from '../support/service.ts';
import { documentedPairs } from './documented.ts';
import { makeKnownData } from './known-data.ts';
import { callRow, type Ids, type OperationId, type Row, rows } from './operations.ts';

const test = base.extend('serviceOptions', perFile, ({ chain }) => ({ rpcUrl: chain.rpcUrl }));

const having = (status: number) =>
  (Object.entries(rows) as [OperationId, Row][]).filter(([id]) =>
    documentedPairs.includes(`${id} ${status}`),
  ); // keys of rows

const mapValues = (record: object, value: unknown) =>
  Object.fromEntries(Object.keys(record).map((name) => [name, value]));
let ids: Ids;
test.beforeAll(async ({ chain, service }) => {
  await indexChain(service, chain.rpcUrl);
  ids = await makeKnownData(service, 'acme');
});

// What can be provoked from outside is in `cases/`; here is what cannot.

describe('429: what a key or an address sends beyond its limit is refused', () => {
  let limited: TestService;
  beforeAll(async () => {
    limited = await startService({
      settings: { RATE_LIMIT_PER_SECOND: '1', RATE_LIMIT_BURST: '3600', PUBLIC_REQUESTS_PER_MINUTE: '1' },
    });
    // The key has used up its window, which lasts for an hour: a window of a second could end between two requests.
    await limited.as(limited.keys.acme).get('/v1/api/rwa').expect(200);
    await limited.db('rate_limits').update({ points: 3_600 });
  });
  afterAll(() => limited.close());

  test.each(having(429))('%s', async (_id, row) => {
    const answers = [];
    // The minute of an address may end between two requests, but not twice among three.
    const times = row.isPublic ? 3 : 1;
    for (let sent = 0; sent < times; sent += 1)
      answers.push(await callRow(limited, row, ids, limited.keys.acme));
    const refused = answers.find(({ status }) => status === 429);
    expect(refused?.body.code).toBe('rate_limited');
    expect(Number(refused?.headers['retry-after'])).toBeGreaterThanOrEqual(1);
  });
});

describe('500: an unexpected error tells nothing of itself', () => {
  let broken: TestService;
  beforeAll(async () => {
    const failing = () => Promise.reject(new Error('password=hunter2 at SELECT * FROM keys'));
    broken = await startService({
      replace: ({ handlers }) => ({
        handlers: Object.fromEntries(
          Object.entries(handlers).map(([area, own]) => [area, mapValues(own, failing)]),
        ),
      }),
    });
  });
  afterAll(() => broken.close());

  test.each(having(500))('%s', async (_id, row) => {
    const answer = await callRow(broken, row, ids, broken.keys.acme);
    expect([answer.status, answer.body.code]).toEqual([500, 'internal_error']);
    expect(answer.text).not.toMatch(/hunter2|SELECT/);
  });
});

describe('503: nobody gets in while the authentication service is out', () => {
  let closed: TestService;
  beforeAll(async () => {
    const verify = () => Promise.reject(new Error('connect ECONNREFUSED'));
    closed = await startService({ replace: ({ verifier }) => ({ verifier: { ...verifier, verify } }) });
    await closed.db('rwas').count(); // the database itself works
  });
  afterAll(() => closed.close());

  test.each(having(503).filter(([, row]) => !row.isPublic))('%s', async (_id, row) => {
    const answer = await callRow(closed, row, ids, closed.keys.acme);
    expect([answer.status, answer.body.code]).toEqual([503, 'auth_unavailable']);
    expect(Number(answer.headers['retry-after'])).toBeGreaterThanOrEqual(1);
  });
});

describe('503: while the database is out of reach', () => {
  const cutOff = async (service: TestService) => {
    const gate = await startGate(service.databaseUrl);
    const cut = await service.twin({ DATABASE_URL: gate.through(service.databaseUrl) });
    await gate.close();
    return cut;
  };

  // The keys of tickets are not in the database.
  const reading = having(503).filter(([id, row]) => row.isPublic && id !== 'getTicketKeys');
  test.for(reading)('%s says so to the public', async ([_id, row], { service }) => {
    const answer = await callRow(await cutOff(service), row, ids, undefined);
    expect([answer.status, answer.body.code]).toEqual([503, 'service_unavailable']);
    expect(Number(answer.headers['retry-after'])).toBeGreaterThanOrEqual(1);
  });

  test('no key gets in, and the process is healthy but not ready', async ({ service }) => {
    const cut = await cutOff(service);
    expect((await fetch(`${cut.baseUrl}/healthz`)).status).toBe(200);
    const readiness = await fetch(`${cut.baseUrl}/readyz`);
    expect([readiness.status, await readiness.json()]).toEqual([
      503,
      {
        status: 'not ready',
        checks: { database: 'failing', jobs: 'failing', networks: 'failing', secrets: 'failing' },
      },
    ]);
    const answer = await cut.as(cut.keys.acme).get('/v1/api/rwa');
    expect([answer.status, answer.body.code]).toEqual([503, 'auth_unavailable']);
  });
});
