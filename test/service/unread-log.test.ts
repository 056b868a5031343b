import { expect } from 'vitest';
import { test } from '../support/fixtures.ts';
import { startProcess } from '../support/process.ts';

const settings = {
  SECRET_KEYS: `a:${Buffer.alloc(32, 1).toString('base64')}`,
  CURSOR_KEYS: `a:${Buffer.alloc(32, 3).toString('base64')}`,
  HOST: '127.0.0.1',
  PORT: '0',
  DRAIN_SECONDS: '0',
  LOG_LEVEL: 'info',
  ROLES: 'api',
};
// A pipe holds some 200 kB, and what reads it 64 kB; each of these has a line of over 300 bytes.
const requests = 1_500;
const atOnce = 50;

test('a service whose log nobody reads answers, and stops in order', async ({ databaseUrl }) => {
  const main = startProcess(['src/main.ts'], { DATABASE_URL: databaseUrl, ...settings });
  const [, port] = await main.until(/"port":(\d+)/);
  main.child.stdout?.pause();
  const url = `http://127.0.0.1:${port}`;
  for (let sent = 0; sent < requests; sent += atOnce) {
    const answers = await Promise.all(
      Array.from({ length: atOnce }, () =>
        fetch(`${url}/v1/api/rwa`, { signal: AbortSignal.timeout(10_000) }),
      ),
    );
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 401));
  }
  expect((await fetch(`${url}/readyz`)).status).toBe(200);
  main.child.kill('SIGTERM');
  const ended = new Promise((resolve) => main.child.once('exit', resolve));
  expect(await ended).toBe(0);
});
