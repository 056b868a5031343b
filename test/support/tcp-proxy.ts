import { connect, createServer, type Socket } from 'node:net';

export type TcpProxy = {
  readonly port: number;
  /** Ends every connection and accepts no new one. */
  close(): Promise<void>;
};

/**
 * Starts a TCP proxy to a local server. Closing it has the effect of a failing network or a stopped server.
 * @param watch makes what gets all that comes on a connection
 */
export async function startTcpProxy(
  targetPort: number,
  watch?: () => (chunk: Buffer) => void,
): Promise<TcpProxy> {
  const sockets = new Set<Socket>();
  const server = createServer((incoming) => {
    const outgoing = connect(targetPort, '127.0.0.1');
    for (const socket of [incoming, outgoing]) {
      sockets.add(socket);
      socket.on('error', () => socket.destroy());
      socket.on('close', () => {
        sockets.delete(socket);
        incoming.destroy();
        outgoing.destroy();
      });
    }
    if (watch !== undefined) incoming.on('data', watch());
    incoming.pipe(outgoing).pipe(incoming);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  return {
    port: typeof address === 'object' && address !== null ? address.port : 0,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}
