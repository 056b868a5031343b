import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { refusalBody, refusalHeaders } from '../../src/http/server/refusals.ts';

/* Refuses every request as the service does, by Node's server and nothing else: what a refusal costs at least. */

const server = createServer((_request, response) => {
  response.writeHead(503, refusalHeaders);
  response.end(refusalBody);
});
// As many connections may wait as of the service.
server.listen({ port: 0, host: '127.0.0.1', backlog: 4_096 }, () => {
  process.send?.((server.address() as AddressInfo).port); // it listens on a port, not on a pipe
});
process.on('disconnect', () => process.exit(0));
