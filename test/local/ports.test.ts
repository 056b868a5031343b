import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { expect, test } from 'vitest';
import { takePorts } from '../../src/local/settings.ts';

test('the ports of a start are its own until the service listens, and a start next to it takes others', async () => {
  await using opened = new AsyncDisposableStack();
  const first = await takePorts({ PORT: '0' }, opened);
  const { PORT, OPERATIONS_PORT } = first.env;
  const intruder = createServer().listen(Number(OPERATIONS_PORT), '127.0.0.1');
  expect((await once(intruder, 'error'))[0]).toMatchObject({ code: 'EADDRINUSE' });
  await expect(takePorts({ PORT }, opened)).rejects.toThrow(`Port ${PORT} is taken by another program`);

  // Both would have found the same port free a moment ago.
  const more = await Promise.all([1, 2, 3].map(() => takePorts({ PORT: '0' }, opened)));
  const all = [first, ...more].flatMap(({ env }) => [env['PORT'], env['OPERATIONS_PORT']]);
  expect(new Set(all).size).toBe(8);

  await first.release();
  const service = createServer().listen(Number(OPERATIONS_PORT), '127.0.0.1');
  await once(service, 'listening');
  service.close();
});

test('a caller who comes before the service listens is turned away, and does not keep the port from it', async () => {
  await using opened = new AsyncDisposableStack();
  const { env, release } = await takePorts({ PORT: '0' }, opened);
  const caller = connect(Number(env['PORT']), '127.0.0.1');
  const gone = once(caller, 'close');
  await once(caller, 'connect');
  await release();
  await gone;
  const service = createServer().listen(Number(env['PORT']), '127.0.0.1');
  await once(service, 'listening');
  service.close();
});
