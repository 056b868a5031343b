import { describe, expect } from 'vitest';
import { addNfts, addRwa, vaultOf } from '../rwa/samples.ts';
import { testWith } from '../support/fixtures.ts';
import { freePort } from '../support/postgres.ts';
import { waitFor } from '../support/wait-for.ts';

const test = testWith({ settings: { RPC_TIMEOUT_MS: '300' } });

const readiness = async (baseUrl: string) => {
  const answer = await fetch(`${baseUrl}/readyz`);
  const body: { status: string; checks: Record<string, string> } = JSON.parse(await answer.text());
  return { status: answer.status, body };
};

describe('/readyz', () => {
  test('tells that no node of a network can be used, and callers are answered', async ({
    service,
    chain,
  }) => {
    await service.db('networks').update({ rpc_urls: [`http://127.0.0.1:${await freePort()}`] });
    expect(await readiness(service.baseUrl)).toEqual({
      status: 200,
      body: { status: 'ready', checks: { database: 'ok', jobs: 'ok', networks: 'failing', secrets: 'ok' } },
    });
    await service.db('networks').update({ rpc_urls: [chain.rpcUrl] });
    const twin = await service.twin({});
    expect((await readiness(twin.baseUrl)).body.checks).toMatchObject({ networks: 'ok' });
    await twin.close();
  });

  test('is not ready without the tables of jobs', async ({ service }) => {
    const { db } = service;
    await db.raw('ALTER SCHEMA pgboss RENAME TO elsewhere');
    await waitFor(async () => expect((await readiness(service.baseUrl)).status).toBe(503));
    expect((await readiness(service.baseUrl)).body.checks).toMatchObject({ database: 'ok', jobs: 'failing' });
    await db.raw('ALTER SCHEMA elsewhere RENAME TO pgboss');
    await waitFor(async () => expect((await readiness(service.baseUrl)).status).toBe(200));
  });

  test('is not ready with a key that does not open what its id has sealed', async ({ service, acme }) => {
    const { db, companies } = service;
    await addNfts(db, vaultOf(['test']), await addRwa(db, companies.acme), 1);
    await waitFor(async () => expect((await readiness(service.baseUrl)).status).not.toBe(200));
    expect((await readiness(service.baseUrl)).body).toMatchObject({
      status: 'not ready',
      checks: { secrets: 'failing' },
    });
    expect((await acme.get('/v1/api/rwa')).status).toBe(200);
  });
});
