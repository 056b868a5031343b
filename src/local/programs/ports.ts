import { createServer } from 'node:net';
import { errorCode } from './local-error.ts';

/** Whether this process can listen on a port right now; if not, `code` is the system's code of the refusal. */
export function canListen(port: number, host: string): Promise<{ ok: boolean; code?: string | undefined }> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', (error) => resolve({ ok: false, code: errorCode(error) }));
    server.listen({ port, host, exclusive: true }, () => server.close(() => resolve({ ok: true })));
  });
}

/** The first free port of the loopback address, starting with a number. @throws Error when 200 are taken */
export async function firstFreePort(from: number): Promise<number> {
  for (let port = from; port < from + 200; port += 1) {
    if ((await canListen(port, '127.0.0.1')).ok) return port;
  }
  throw new Error(`No free port from ${from} to ${from + 199}`);
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
  return !(await canListen(port, '127.0.0.1')).ok;
}
