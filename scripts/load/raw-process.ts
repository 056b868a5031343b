import { connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { beStranger } from './stranger.ts';

/* Connections that do not behave as an HTTP client should. */

export type RawTask = {
  /** Connections take turns with them. */
  readonly ports: readonly number[];
  readonly address: string;
  readonly connections: number;
  /** What each connection sends as soon as it is there. */
  readonly text: string;
  /** Whether answers are read; without it the connection fills up. */
  readonly reads: boolean;
  /** They leave after so many milliseconds, and come anew; without it they stay. */
  readonly stayMs?: number;
};

export type RawFigures = {
  /** Connections that came about. */
  readonly connected: number;
};

let connected = 0;

/** Opens all connections. @returns what closes them without a word */
function open({ ports, address, connections, text, reads }: RawTask): () => void {
  const sockets = new Set<Socket>();
  for (let index = 0; index < connections; index += 1) {
    const port = ports[index % ports.length] ?? 0;
    const socket = connect({ port, host: '127.0.0.1', localAddress: address });
    sockets.add(socket);
    socket.on('error', () => socket.destroy()).once('close', () => sockets.delete(socket));
    if (reads) socket.resume();
    else socket.pause();
    socket.once('connect', () => {
      connected += 1;
      socket.write(text);
    });
  }
  return () => {
    for (const socket of sockets) socket.destroy();
  };
}

async function comeAgain(task: RawTask, stayMs: number): Promise<never> {
  for (;;) {
    const leave = open(task);
    await pause(stayMs);
    leave();
  }
}

beStranger((task: RawTask): (() => RawFigures) => {
  if (task.stayMs === undefined) open(task);
  else void comeAgain(task, task.stayMs);
  return () => ({ connected });
});
