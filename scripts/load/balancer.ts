import { once } from 'node:events';
import {
  Agent,
  createServer,
  get,
  type IncomingMessage,
  type ServerResponse,
  request as send,
} from 'node:http';
import { portOf } from '../../src/local/programs/ports.ts';

export type Balancer = {
  readonly port: number;
  /** Whether a replica said that it is ready when it was last asked. */
  isReady(port: number): boolean;
  /** Closes the connections to replicas that nobody uses at the moment. */
  dropIdle(): void;
  /** Replaces the replicas. */
  leadTo(ports: readonly number[]): void;
  close(): void;
};

/** The address that replicas see, to be trusted by them: it names each caller's own in `X-Forwarded-For`. */
export const balancerAddress = '127.0.0.2';

const probeMs = 500;

/**
 * Starts a balancer as they are found: it keeps connections to the replicas, asks each whether it is ready, and uses all when
 * none is. Nothing is ever sent again: what a replica loses, its caller loses.
 */
export async function startBalancer(replicas: readonly number[]): Promise<Balancer> {
  const agent = new Agent({ keepAlive: true, localAddress: balancerAddress });
  const ready = new Set<number>();
  let ports = replicas;
  let turn = 0;
  const probing = setInterval(() => {
    for (const port of ports) void probe(port).then((is) => (is ? ready.add(port) : ready.delete(port)));
  }, probeMs);
  const choose = () => {
    const usable = ports.filter((port) => ready.has(port));
    const from = usable.length > 0 ? usable : ports;
    turn += 1;
    return from[turn % from.length] ?? 0;
  };
  const server = createServer((request, response) => passOn(agent, choose(), request, response));
  server.keepAliveTimeout = 0;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: portOf(server),
    isReady: (port) => ready.has(port),
    dropIdle() {
      for (const socket of Object.values(agent.freeSockets).flat()) socket?.destroy();
    },
    leadTo(changed) {
      ports = changed;
    },
    close() {
      clearInterval(probing);
      agent.destroy();
      server.closeAllConnections();
      server.close();
    },
  };
}

/** What the replica breaks off is broken off. */
function passOn(agent: Agent, port: number, request: IncomingMessage, response: ServerResponse): void {
  const { method, url, socket } = request;
  const headers = { ...request.headers, 'x-forwarded-for': socket.remoteAddress };
  const upstream = send({ agent, port, host: '127.0.0.1', method, path: url, headers });
  upstream.once('response', (answer) => {
    response.writeHead(answer.statusCode ?? 599, answer.headers);
    answer.pipe(response);
    answer.once('error', () => response.destroy());
  });
  upstream.once('error', () => (response.headersSent ? response : request.socket).destroy());
  response.once('close', () => upstream.destroy());
  request.pipe(upstream);
}

function probe(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const options = { port, host: '127.0.0.1', path: '/readyz', agent: false as const, timeout: 2_500 };
    const asked = get(options, (answer) => {
      answer.resume();
      resolve(answer.statusCode === 200);
    });
    asked.once('timeout', () => asked.destroy()).once('error', () => resolve(false));
  });
}
