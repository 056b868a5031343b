import { connect, type Socket } from 'node:net';

export type RawCallers = {
  /** Connections that the service has not closed. */
  open(): number;
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
  for (let index = 0; index < connections; index += 1) {
    const port = ports[index % ports.length] ?? 0;
    const socket = connect({ port, host: '127.0.0.1', localAddress: strangerAddress });
    sockets.add(socket);
    socket.on('error', () => socket.destroy()).once('close', () => sockets.delete(socket));
    if (reads) socket.resume();
    else socket.pause();
    socket.once('connect', () => socket.write(text));
  }
  return {
    open: () => sockets.size,
    leave() {
      for (const socket of sockets) socket.destroy();
    },
  };
}

/** The text of a GET that keeps its connection. */
export function requestText(path: string, key?: string): string {
  const withKey = key === undefined ? '' : `x-api-key: ${key}\r\n`;
  return `GET ${path} HTTP/1.1\r\nhost: localhost\r\n${withKey}\r\n`;
}
