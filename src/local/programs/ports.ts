import { createServer, type Server } from 'node:net';
import { errorCode } from '../../base/thrown.ts';

/** A port that this process has, or the system's error code. */
type Hold = { readonly server: Server } | { readonly code: string | undefined };

/** Takes a port, so that nobody else does; 0 takes any. */
export function holdPort(port: number, host: string): Promise<Hold> {
  return new Promise((resolve) => {
    // A caller that comes before there is an answer learns so at once.
    const server = createServer((socket) => socket.destroy());
    server.once('error', (error) => resolve({ code: errorCode(error) }));
    server.listen({ port, host, exclusive: true }, () => resolve({ server }));
  });
}

/** Takes the first free port of a host, starting with a number. @throws Error when 200 are taken */
export async function holdFreePort(from: number, host: string): Promise<Server> {
  for (let port = from; port < from + 200; port += 1) {
    const hold = await holdPort(port, host);
    if ('server' in hold) return hold.server;
  }
  throw new Error(`No free port from ${from} to ${from + 199}`);
}

/** The port that a server has. */
export function portOf(server: Server): number {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server holds no port');
  return address.port;
}

const close = (server: Server) => new Promise((resolve) => server.close(resolve));

/** The first free port of the loopback address, starting with a number. @throws Error when 200 are taken */
export async function firstFreePort(from: number): Promise<number> {
  const server = await holdFreePort(from, '127.0.0.1');
  const port = portOf(server);
  await close(server);
  return port;
}

/**
 * Starts something on a free port, starting with a number. When another program takes the port first, the next
 * one is tried.
 */
export async function startOnFreePort<T>(
  from: number,
  start: (port: number) => Promise<T>,
): Promise<{ port: number; started: T }> {
  for (let port = await firstFreePort(from); ; port = await firstFreePort(port + 1)) {
    try {
      return { port, started: await start(port) };
    } catch (error) {
      if (!(await wasTaken(port, error))) throw error;
    }
  }
}

// The other program may have ended by now, so the message of the failed start counts too.
async function wasTaken(port: number, error: unknown): Promise<boolean> {
  if (error instanceof Error && /in use|any TCP\/IP sockets/.test(error.message)) return true;
  const hold = await holdPort(port, '127.0.0.1');
  if ('server' in hold) await close(hold.server);
  return 'code' in hold;
}
