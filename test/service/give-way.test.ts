import { existsSync, readFileSync } from 'node:fs';
import { getPriority } from 'node:os';
import { expect } from 'vitest';
import { test } from '../support/fixtures.ts';
import { type ProcessOptions, startProcess } from '../support/process.ts';

const settings = {
  CURSOR_KEYS: `a:${Buffer.alloc(32, 3).toString('base64')}`,
  HOST: '127.0.0.1',
  PORT: '0',
  AREAS: 'blockchain',
  DRAIN_SECONDS: '0',
};
const below = 10;

/** What a process of these roles, once it has started, has of the cores. */
async function prioritiesOf(roles: string, databaseUrl: string, options?: ProcessOptions) {
  const env = { ...settings, ROLES: roles, DATABASE_URL: databaseUrl };
  const started = startProcess(['src/main.ts'], env, options);
  await started.until(/service started/);
  const { pid } = started.child;
  const nice = getPriority(pid);
  const session = existsSync(`/proc/${pid}/autogroup`) ? niceOfSession(pid) : undefined;
  started.child.kill('SIGTERM');
  expect(await started.ended).toBe(0);
  return { nice, session };
}

// "/autogroup-123 nice 0"
const niceOfSession = (pid: number | 'self' | undefined) =>
  Number(readFileSync(`/proc/${pid}/autogroup`, 'utf8').split(' ').at(-1));

test('a worker that answers no callers gives way to processes that do', async ({ databaseUrl }) => {
  const own = getPriority();
  expect(await prioritiesOf('worker', databaseUrl)).toMatchObject({ nice: Math.max(own, below) });
  expect(await prioritiesOf('api,worker', databaseUrl)).toMatchObject({ nice: own });
  expect(await prioritiesOf('indexer', databaseUrl)).toMatchObject({ nice: own });
});

test.runIf(existsSync('/proc/self/autogroup'))(
  'where sessions share the cores, so does the session of a worker that was started in its own',
  async ({ databaseUrl }) => {
    const detached = true;
    expect(await prioritiesOf('worker', databaseUrl, { detached })).toMatchObject({ session: below });
    expect(await prioritiesOf('api,worker', databaseUrl, { detached })).toMatchObject({ session: 0 });
    // Of a session that has others in it, it lowers none.
    expect(await prioritiesOf('worker', databaseUrl)).toMatchObject({ session: niceOfSession('self') });
  },
);
