import { createServer, type Socket, connect as tcpConnect } from 'node:net';

/** What stands between a client and its server: a real TCP connection that can be made to misbehave. */
export type Gate = {
  readonly port: number;
  /** The URL with this gate's host and port in place of the server's. */
  through(url: string): string;
  /** Lets everything pass, as at first. */
  open(): void;
  /** Drops every connection, and new ones at once. */
  refuse(): void;
  /** Keeps connections and takes new ones, but passes nothing on: a path that loses every packet. */
  freeze(): void;
  /** Passes nothing on of the connections of now, as a firewall that has forgotten them; new ones pass. */
  lose(): void;
  /** Drops every connection and answers new ones with bytes that belong to no protocol. */
  babble(): void;
  /** How often it has withheld something so far: bytes that came, or a connection. */
  withheld(): number;
  /** Drops every connection; new ones lead to this server. */
  leadTo(target: string): void;
  close(): Promise<void>;
};

type Mode = 'open' | 'refuse' | 'freeze' | 'babble';

/**
 * @param target the server's address, as any URL with a host and a port
 * @param watch makes what gets all that a client sends on a connection
 */
export async function startGate(target: string, watch?: () => (bytes: Buffer) => void): Promise<Gate> {
  let { hostname, port } = new URL(target);
  const sockets = new Set<Socket>();
  const lost = new WeakSet<Socket>();
  let mode: Mode = 'open';
  let withheld = 0;

  const track = (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => {}).on('close', () => sockets.delete(socket));
    return socket;
  };

  const server = createServer({ noDelay: true }, (client) => {
    track(client);
    if (mode !== 'open') withheld += 1;
    if (mode === 'refuse') client.destroy();
    if (mode === 'babble') client.end('~~ no protocol of this world ~~\r\n\r\n');
    if (mode === 'open') {
      if (watch !== undefined) client.on('data', watch());
      const isLost = () => mode === 'freeze' || lost.has(client);
      const upstream = tcpConnect({ port: Number(port), host: hostname, noDelay: true });
      join(client, track(upstream), isLost, () => {
        withheld += 1;
      });
    }
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const address = server.address();
  const ownPort = typeof address === 'object' && address ? address.port : 0;

  const become = (next: Mode) => () => {
    mode = next;
    if (next !== 'freeze') for (const socket of sockets) socket.destroy();
  };

  return {
    port: ownPort,
    through: (url) => throughPort(url, ownPort),
    open: become('open'),
    refuse: become('refuse'),
    freeze: become('freeze'),
    lose() {
      for (const socket of sockets) lost.add(socket);
    },
    babble: become('babble'),
    withheld: () => withheld,
    leadTo(other) {
      ({ hostname, port } = new URL(other));
      become('open')();
    },
    close() {
      become('refuse')();
      return new Promise((closed) => server.close(() => closed()));
    },
  };
}

/** The URL with a port of this machine in place of its host and port. */
export function throughPort(url: string, port: number): string {
  const changed = new URL(url);
  changed.hostname = '127.0.0.1';
  changed.port = String(port);
  return changed.href;
}

function join(client: Socket, upstream: Socket, frozen: () => boolean, onWithheld: () => void): void {
  for (const [from, to] of [
    [client, upstream],
    [upstream, client],
  ] as const) {
    from.on('data', (bytes) => {
      if (frozen()) onWithheld();
      else to.write(bytes);
    });
    from.on('close', () => to.destroy());
  }
}
