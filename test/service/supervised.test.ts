import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { describe, expect } from 'vitest';
import { test } from '../support/fixtures.ts';
import { processSettings, startMain, startProcess } from '../support/process.ts';

test('a signal during the start ends it, also for process 1, which no unhandled signal ends', async () => {
  const silent = createServer().listen(0, '127.0.0.1');
  await once(silent, 'listening');
  const { port } = silent.address() as AddressInfo; // it listens on TCP
  const connected = once(silent, 'connection');
  const starting = startMain(`postgres://nobody@127.0.0.1:${port}/none`);
  const [socket]: Socket[] = await connected;
  starting.child.kill('SIGTERM');
  // Handled: an unhandled one would be told as the signal itself.
  expect(await starting.ended).toBe(143);
  socket?.destroy();
  silent.close();
});

describe('`npm run serve` under a supervisor', () => {
  const serve = async (databaseUrl: string) => {
    const env = { ...processSettings(databaseUrl), ROLES: 'api', HOME: process.env['HOME'] ?? '/' };
    const npm = startProcess(['run', 'serve'], env, { command: 'npm', detached: true });
    await npm.until(/service started/);
    return npm;
  };

  test('stops in order when npm alone is told to', async ({ databaseUrl }) => {
    const npm = await serve(databaseUrl);
    npm.child.kill('SIGTERM');
    expect(await npm.ended).toBe(0);
    expect(npm.output()).toMatch(/service stopped/);
  });

  test.for(['SIGTERM', 'SIGINT'] as const)(
    'stops in order when its whole group gets %s, which npm hands on a second time',
    async (signal, { databaseUrl }) => {
      const npm = await serve(databaseUrl);
      process.kill(-(npm.child.pid ?? 0), signal);
      await npm.ended;
      expect(npm.output()).toMatch(/service stopped/);
    },
  );
});
