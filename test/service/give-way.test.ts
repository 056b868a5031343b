import { getPriority } from 'node:os';
import { expect } from 'vitest';
import { test } from '../support/fixtures.ts';
import { startProcess } from '../support/process.ts';

const settings = {
  CURSOR_KEYS: `a:${Buffer.alloc(32, 3).toString('base64')}`,
  HOST: '127.0.0.1',
  PORT: '0',
  AREAS: 'blockchain',
  DRAIN_SECONDS: '0',
};

test('a worker that answers no callers gives way to processes that do', async ({ databaseUrl }) => {
  const prioritiesOf = async (roles: string) => {
    const started = startProcess(['src/main.ts'], { ...settings, ROLES: roles, DATABASE_URL: databaseUrl });
    await started.until(/service started/);
    const priority = getPriority(started.child.pid);
    started.child.kill('SIGTERM');
    expect(await started.ended).toBe(0);
    return priority;
  };
  const own = getPriority();
  expect(await prioritiesOf('worker')).toBe(Math.max(own, 10));
  expect(await prioritiesOf('api,worker')).toBe(own);
  expect(await prioritiesOf('indexer')).toBe(own);
});
