import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

export type RawCallers = {
  /** Connections that came about. */
  connected(): number;
  /** Connections that the service has not closed. */
  open(): number;
  /** Those of them for which the kernel has more than they take. */
  blocked(): number;
  /** Leaves without a word. */
  leave(): void;
};

/** The address of callers who behave badly, apart from that of all others. */
export const strangerAddress = '127.0.0.66';

type RawOptions = {
  readonly ports: readonly number[];
  readonly connections: number;
  /** What each connection sends as soon as it is there. */
  readonly text: string;
  /** Whether answers are read; without it the connection fills up. */
  readonly reads: boolean;
};

/** Opens connections that do not behave as an HTTP client should; they take turns with the ports. */
export function startRawCallers({ ports, connections, text, reads }: RawOptions): RawCallers {
  const sockets = new Set<Socket>();
  let connected = 0;
  for (let index = 0; index < connections; index += 1) {
    const port = ports[index % ports.length] ?? 0;
    const socket = connect({ port, host: '127.0.0.1', localAddress: strangerAddress });
    sockets.add(socket);
    socket.on('error', () => socket.destroy()).once('close', () => sockets.delete(socket));
    if (reads) socket.resume();
    else socket.pause();
    socket.once('connect', () => {
      connected += 1;
      socket.write(text);
    });
  }
  return {
    connected: () => connected,
    open: () => heldByService(ports)?.length ?? sockets.size,
    blocked: () => heldByService(ports)?.filter(({ unsent }) => unsent).length ?? sockets.size,
    leave() {
      for (const socket of sockets) socket.destroy();
    },
  };
}

/** Callers who leave after some time, and come anew. @returns what ends them, with how many connections there were */
export function startComingAgain(options: RawOptions, everyMs: number): () => Promise<number> {
  let isOver = false;
  let connected = 0;
  const coming = (async () => {
    while (!isOver) {
      const callers = startRawCallers(options);
      await pause(everyMs);
      connected += callers.connected();
      callers.leave();
    }
  })();
  return async () => {
    isOver = true;
    await coming;
    return connected;
  };
}

// As the kernel writes it: the bytes of the address the other way round.
const strangerInHex = strangerAddress
  .split('.')
  .map((part) => Number(part).toString(16).padStart(2, '0').toUpperCase())
  .toReversed()
  .join('');

/**
 * Connections of strangers that processes behind these ports hold: whoever does not read does not learn that it was
 * closed. Undefined without /proc.
 */
function heldByService(ports: readonly number[]): { readonly unsent: boolean }[] | undefined {
  const own = new Set(ports.map((port) => port.toString(16).padStart(4, '0').toUpperCase()));
  try {
    const lines = readFileSync('/proc/net/tcp', 'utf8').trim().split('\n').slice(1);
    return lines.flatMap((line) => {
      const [, local = '', remote = '', , queues = '', , , , , inode] = line.trim().split(/\s+/);
      // A socket that its process has closed has no inode, while the kernel still has what to send.
      const isHeld = own.has(local.split(':')[1] ?? '') && remote.startsWith(strangerInHex) && inode !== '0';
      return isHeld ? [{ unsent: !queues.startsWith('00000000:') }] : [];
    });
  } catch {
    return undefined;
  }
}

/** The text of a GET that keeps its connection. */
export function requestText(path: string, key?: string): string {
  const withKey = key === undefined ? '' : `x-api-key: ${key}\r\n`;
  return `GET ${path} HTTP/1.1\r\nhost: localhost\r\n${withKey}\r\n`;
}
