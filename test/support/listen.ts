import type { Server } from 'node:http';
import type { AddressInfo, Server as TcpServer } from 'node:net';

/** Lets a server listen on this machine. @returns its port */
export async function startListening(server: TcpServer): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port; // it listens on TCP
}

/** Closes a server with all its connections. */
export async function shut(server: Server): Promise<void> {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
}
