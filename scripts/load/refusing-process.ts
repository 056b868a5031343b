import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/* Refuses every request as the service does, by Node's server and nothing else: what a refusal costs at least. */

const body = JSON.stringify({
  type: '/docs/problems/overloaded',
  title: 'Service unavailable',
  status: 503,
  detail: 'The service has too much to do at the moment. Try again after the time that Retry-After names.',
  code: 'overloaded',
  requestId: '00000000-0000-4000-8000-000000000000',
});
const headers = [
  ...['X-Content-Type-Options', 'nosniff'],
  ...['Retry-After', '1'],
  ...['Content-Type', 'application/problem+json'],
  ...['Cache-Control', 'no-store'],
  ...['Content-Length', String(Buffer.byteLength(body))],
];

const server = createServer((_request, response) => {
  response.writeHead(503, headers);
  response.end(body);
});
// As many connections may wait as of the service.
server.listen({ port: 0, host: '127.0.0.1', backlog: 4_096 }, () => {
  process.send?.((server.address() as AddressInfo).port); // it listens on a port, not on a pipe
});
process.on('disconnect', () => process.exit(0));
