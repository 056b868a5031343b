import { once } from 'node:events';
import { createServer } from 'node:http';
import { expect, onTestFinished, test, vi } from 'vitest';
import { createLogger } from '../../src/base/log.ts';
import { startTracing } from '../../src/tracing/otlp.ts';

test('a collector that sends a byte now and then, and never an end, holds one connection at most', async () => {
  let asked = 0;
  let open = 0;
  const server = createServer((_request, response) => {
    asked += 1;
    response.writeHead(200, { 'content-type': 'application/x-protobuf' });
    const trickle = setInterval(() => response.write('x'), 20);
    response.on('close', () => clearInterval(trickle));
  });
  server.on('connection', (socket) => {
    open += 1;
    socket.on('close', () => {
      open -= 1;
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const place = server.address();
  const tracing = startTracing({
    endpoint: `http://127.0.0.1:${typeof place === 'object' ? place?.port : ''}`,
    headers: {},
    timeoutMs: 100,
    sampler: 'always_on',
    share: 1,
    attributes: {},
    log: createLogger({ level: 'silent' }),
  });
  onTestFinished(() => tracing.stop());
  for (let exports = 1; exports <= 3; exports += 1) {
    tracing.begin({ name: 'some', kind: 'internal' }).end();
    await vi.waitFor(() => expect(asked).toBe(exports), { timeout: 60_000 });
  }
  await vi.waitFor(() => expect(open).toBeLessThanOrEqual(1), { timeout: 60_000 });
});
