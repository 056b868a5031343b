import { createServer } from 'node:net';
import { errorCode } from './local-error.ts';

/** Whether a port can be listened on at this moment; false when it is taken or not ours to take. */
export function canListen(port: number, host: string): Promise<{ ok: boolean; code?: string | undefined }> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', (error) => resolve({ ok: false, code: errorCode(error) }));
    server.listen({ port, host, exclusive: true }, () => server.close(() => resolve({ ok: true })));
  });
}

/** The first free port of the loopback address from a number on. */
export async function firstFreePort(from: number): Promise<number> {
  for (let port = from; port < from + 200; port += 1) {
    if ((await canListen(port, '127.0.0.1')).ok) return port;
  }
  throw new Error(`No free port from ${from} to ${from + 199}`);
}

/**
 * Starts something on a free port from a number on. Where another program is quicker than we are to take
 * it, the next one is tried.
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

// The other one may have ended by now, so what our program said counts too.
async function wasTaken(port: number, error: unknown): Promise<boolean> {
  if (error instanceof Error && /in use|any TCP\/IP sockets/.test(error.message)) return true;
  return !(await canListen(port, '127.0.0.1')).ok;
}
