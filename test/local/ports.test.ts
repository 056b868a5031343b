import { connect } from 'node:net';
import { describe, expect, test } from 'vitest';
import { createLogger } from '../../src/base/log.ts';
import { listen } from '../../src/http/server/listener.ts';
import { portOf } from '../../src/local/programs/ports.ts';
import { holdPorts } from '../../src/local/settings.ts';

const log = createLogger({ level: 'silent' });
const settings = { host: 'HOST', port: 'PORT' };

/** What becomes of a connection: the code of its error, or nothing. */
const outcome = (port: number) =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.on('error', (error: NodeJS.ErrnoException) => resolve(error.code));
    socket.on('close', () => resolve(undefined));
  });

describe('the ports of a local start', () => {
  test('are its own from the moment in which they are chosen', async () => {
    await using opened = new AsyncDisposableStack();
    const starts = await Promise.all([1, 2, 3].map(() => holdPorts({ PORT: '0' }, opened)));
    const ports = starts.flatMap(({ held }) => [portOf(held.callers), portOf(held.operators)]);
    expect(new Set(ports).size).toBe(6);
    expect(starts.map(({ env }) => env['OPERATIONS_PORT'])).toEqual(
      starts.map(({ held }) => String(portOf(held.operators))),
    );
  });

  test('answer once the service has taken them over, and end who comes before', async () => {
    await using opened = new AsyncDisposableStack();
    const { held } = await holdPorts({ PORT: '0' }, opened);
    const port = portOf(held.callers);
    await outcome(port);
    const server = await listen((_request, response) => response.end('here'), {
      host: '127.0.0.1',
      port,
      settings,
      reserved: held.callers,
      log,
    });
    expect(server.port).toBe(port);
    expect(await (await fetch(`http://127.0.0.1:${port}/`)).text()).toBe('here');
    await server.stop(0);
    expect(await outcome(port)).toBe('ECONNREFUSED');
  });
});
