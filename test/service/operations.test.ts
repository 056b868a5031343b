import { afterAll, describe, expect } from 'vitest';
import { createLogger } from '../../src/base/log.ts';
import { loadConfig } from '../../src/config/config.ts';
import { type Service, startService } from '../../src/service/service.ts';
import { addNetwork } from '../rwa/samples.ts';
import { asUser, type TestDatabase } from '../support/database.ts';
import { test } from '../support/fixtures.ts';

const keys = `a:${Buffer.alloc(32, 1).toString('base64')}`;

const start = (database: TestDatabase, settings: Record<string, string>) =>
  startService(
    loadConfig({
      HOST: '127.0.0.1',
      PORT: '0',
      OPERATIONS_PORT: '0',
      DRAIN_SECONDS: '0',
      SECRET_KEYS: keys,
      CURSOR_KEYS: keys,
      DATABASE_URL: database.url,
      ...settings,
    }),
    createLogger({ level: 'silent' }),
  );
const ask = (port: number | undefined, path: string) => fetch(`http://127.0.0.1:${port}${path}`);
const scrape = async ({ operationsPort }: Service) => (await ask(operationsPort, '/metrics')).text();

describe.each(['api', 'worker', 'indexer'] as const)('a process that is only %s', (role) => {
  let service: Service;
  test.beforeAll(async ({ database }) => {
    service = await start(database, { ROLES: role, DATABASE_URL: asUser(database.url, `test_${role}`) });
  });
  afterAll(() => service.stop());

  test('tells operators whether it works, and its metrics, without a key', async () => {
    expect((await ask(service.operationsPort, '/healthz')).status).toBe(200);
    expect(await (await ask(service.operationsPort, '/readyz')).json()).toMatchObject({ status: 'ready' });
    const answer = await ask(service.operationsPort, '/metrics');
    expect(answer.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
    expect(await answer.text()).toMatch(/^process_cpu_seconds_total \d/m);
  });

  test('serves operators nothing else', async () => {
    for (const path of ['/', '/metrics/', '/Healthz', '/docs', '/v1/api/rwa']) {
      expect([path, (await ask(service.operationsPort, path)).status]).toEqual([path, 404]);
    }
  });
});

describe('what callers reach', () => {
  let service: Service;
  test.beforeAll(async ({ database }) => {
    service = await start(database, { ROLES: 'api' });
  });
  afterAll(() => service.stop());

  test('tells health but no metrics', async () => {
    expect((await ask(service.port, '/healthz')).status).toBe(200);
    expect((await ask(service.port, '/readyz')).status).toBe(200);
    expect((await ask(service.port, '/metrics')).status).toBe(404);
  });

  test('is counted by operation and status, never by path, and the listener for operators is not', async () => {
    const id = '8a1d0f0e-2f6b-4d35-8d92-5d8a6b0f7c11';
    expect((await ask(service.port, `/v1/api/nft/${id}`)).status).toBe(401);
    expect((await ask(service.port, `/v1/api/nothing/${id}`)).status).toBe(404);
    expect((await ask(service.port, `/nowhere/${id}`)).status).toBe(404);
    await ask(service.operationsPort, `/nowhere/${id}`);
    const text = await scrape(service);
    const count = (line: string) =>
      expect(text).toContain(`tallystick_http_request_duration_seconds_count{${line}} 1\n`);
    count('area="rwa",operation="getNft",status="401"');
    count('area="rwa",operation="none",status="404"');
    expect(text).toContain(
      'tallystick_http_problems_total{area="rwa",operation="getNft",code="api_key_missing"} 1\n',
    );
    expect(text).not.toContain(id);
    expect(text).not.toContain('nowhere');
  });
});

describe('a process that is only api, where nobody works', () => {
  let service: Service;
  test.beforeAll(async ({ database }) => {
    const { db } = database;
    await addNetwork(db);
    await db('networks').update({ data_provider: 'indexer' });
    await db('mint_lanes').insert({
      chain_id: 31337,
      signer: '0x90F79bf6EB2c4f870365E785982E1f101E93b906',
    });
    await db.raw(`INSERT INTO index_state (chain_id, start_block, updated_at, new_block_at)
      VALUES (31337, 0, now() - interval '1 hour', now() - interval '1 hour')`);
    await db.raw(
      "UPDATE pgboss.queue SET created_on = now() - interval '3 hours' WHERE name = 'purge-expired'",
    );
    service = await start(database, { ROLES: 'api', DATABASE_URL: asUser(database.url, 'test_api') });
  });
  afterAll(() => service.stop());

  test('tells of lanes, of indexes and of jobs that run by the clock', async () => {
    const text = await scrape(service);
    expect(text).toMatch(/^tallystick_mint_lane_held\{chain_id="31337",signer="0x90F7\w+"\} 0$/m);
    expect(text).toMatch(/^tallystick_mint_oldest_queued_seconds\{chain_id="31337"\} 0$/m);
    for (const gauge of ['seen', 'new_block'])
      expect(text).toMatch(
        new RegExp(`^tallystick_index_${gauge}_seconds\\{chain_id="31337"\\} 36\\d\\d`, 'm'),
      );
    expect(text).toMatch(/^tallystick_job_last_done_seconds\{queue="purge-expired"\} 108\d\d/m);
    expect(text).toMatch(/^tallystick_job_last_done_seconds\{queue="chain-audit"\} /m);
    expect(text).not.toMatch(/^tallystick_scrape_failures_total\{.*\} [1-9]/m);
  });

  test('counts no queues, since there may be many of its kind', async () => {
    expect(await scrape(service)).not.toContain('tallystick_mint_queued');
  });

  test('tells of no index that is kept while its network has another provider', async ({ database }) => {
    await database.db('networks').update({ data_provider: 'moralis' });
    await expect.poll(() => scrape(service)).not.toMatch(/^tallystick_index_\w+\{/m);
  });
});

test('a process without the setting listens for nobody but its callers', async ({ database }) => {
  const service = await start(database, { ROLES: 'api', OPERATIONS_PORT: '' });
  expect(service.operationsPort).toBeUndefined();
  await service.stop();
});
