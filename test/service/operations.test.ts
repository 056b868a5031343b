import { afterAll, describe, expect } from 'vitest';
import { loadConfig } from '../../src/config.ts';
import { createLogger } from '../../src/log.ts';
import { type Service, startService } from '../../src/service.ts';
import { asUser, type TestDatabase } from '../support/database.ts';
import { test } from '../support/fixtures.ts';

const keys = `a:${Buffer.alloc(32, 1).toString('base64')}`;

const start = (database: TestDatabase, settings: Record<string, string>) =>
  startService(
    loadConfig({
      ...{ HOST: '127.0.0.1', PORT: '0', OPERATIONS_PORT: '0', SECRET_KEYS: keys, CURSOR_KEYS: keys },
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

test('a process without the setting listens for nobody but its callers', async ({ database }) => {
  const service = await start(database, { ROLES: 'api', OPERATIONS_PORT: '' });
  expect(service.operationsPort).toBeUndefined();
  await service.stop();
});
