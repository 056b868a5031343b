import { expect } from 'vitest';
import { test } from '../support/fixtures.ts';
import { startMain } from '../support/process.ts';

// A pipe holds some 200 kB, and what reads it 64 kB; each of these has a line of over 300 bytes.
const requests = 1_500;
const atOnce = 50;

test('a service whose log nobody reads answers, and stops in order', async ({ databaseUrl }) => {
  const main = startMain(databaseUrl, { ROLES: 'api' });
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
