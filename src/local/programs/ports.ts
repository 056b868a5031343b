import { once } from 'node:events';
import { createServer, type Server } from 'node:net';
import { errorCode } from '../../base/thrown.ts';

/** A port that no other program can take until it is released. */
export type HeldPort = { readonly port: number; release(): Promise<void> };

/** Takes a port. @returns the system's error code when it cannot be listened on */
export async function holdPort(port: number, host: string): Promise<HeldPort | string> {
  // A caller who comes before the service is turned away: a port with an open connection could not be released.
  const server = createServer((socket) => socket.destroy()).listen({ port, host, exclusive: true });
  try {
    await once(server, 'listening');
  } catch (error) {
    return errorCode(error) ?? 'unknown';
  }
  return {
    port,
    async release() {
      if (!server.listening) return;
      server.close();
      await once(server, 'close');
    },
  };
}

/** Finds out why a port cannot be listened on. @returns the system's error code; undefined when the port is free */
async function findPortFault(port: number, host: string): Promise<string | undefined> {
  const held = await holdPort(port, host);
  if (typeof held === 'string') return held;
  await held.release();
  return undefined;
}

export function portOf(server: Server): number {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server has no port');
  return address.port;
}

/** The first free port of a host, starting with a number. @throws Error when 200 are taken */
export async function firstFreePort(from: number, host = '127.0.0.1'): Promise<number> {
  const { port, release } = await holdFreePort(from, host);
  await release();
  return port;
}

/** Takes the first free port of a host, starting with a number. @throws Error when 200 are taken */
export async function holdFreePort(from: number, host: string): Promise<HeldPort> {
  for (let port = from; port < from + 200; port += 1) {
    const held = await holdPort(port, host);
    if (typeof held !== 'string') return held;
  }
  throw new Error(`No free port from ${from} to ${from + 199}`);
}

/**
 * Starts something on a free port, starting with a number. When another program takes the port first, the next port is
 * tried.
 */
export async function startOnFreePort<T>(
  from: number,
  start: (port: number) => Promise<T>,
): Promise<{ port: number; started: T }> {
  for (let port = await firstFreePort(from); ; port = await firstFreePort(port + 1)) {
    try {
      return { port, started: await start(port) };
    } catch (error) {
      // The other program may have ended by now, so the message of the failed start counts too.
      const wasTaken = error instanceof Error && /in use|any TCP\/IP sockets/.test(error.message);
      if (!wasTaken && (await findPortFault(port, '127.0.0.1')) === undefined) throw error;
    }
  }
}
