import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

// A receiver in a process of its own: it takes everything, and says when it got what.
const arrivals: (readonly [timestamp: string, at: number])[] = [];
const server = createServer(async (request, response) => {
  let text = '';
  for await (const chunk of request) text += chunk;
  arrivals.push([JSON.parse(text).timestamp, Date.now()]);
  response.writeHead(204).end();
});
server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port)); // it listens on a port
process.on('message', () => process.send?.(arrivals.splice(0)));
process.on('disconnect', () => process.exit());
