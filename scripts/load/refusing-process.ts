import { type AddressInfo, createServer } from 'node:net';
import { refusalBody, refusalHeaders } from '../../src/http/server/refusals.ts';

/*
 * Takes requests and sends refusals as the service does, without a look at either: what is left is the kernel's, whose time it
 * tells whenever it is asked, with how many refusals it was for.
 */

export type KernelTime = { readonly refusals: number; readonly systemMicros: number };

const lines = Array.from({ length: refusalHeaders.length / 2 }, (_, index) =>
  refusalHeaders.slice(2 * index, 2 * index + 2).join(': '),
);
const refusal = ['HTTP/1.1 503 Service Unavailable', ...lines, '', refusalBody].join('\r\n');

let refusals = 0;
const server = createServer({ noDelay: true }, (socket) => {
  socket.on('error', () => socket.destroy());
  socket.on('data', () => {
    refusals += 1;
    socket.write(refusal, 'latin1');
  });
});
process.on('message', () => {
  process.send?.({ refusals, systemMicros: process.cpuUsage().system } satisfies KernelTime);
});
process.on('disconnect', () => process.exit(0));
// As many connections may wait as of the service.
server.listen({ port: 0, host: '127.0.0.1', backlog: 4_096 }, () => {
  process.send?.((server.address() as AddressInfo).port); // it listens on a port, not on a pipe
});
