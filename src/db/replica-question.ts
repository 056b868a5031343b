import { Socket } from 'node:net';
import { Client } from 'pg';
import { inTime } from '../in-time.ts';
import { type ReplicaAnswer, readBeat } from './replica-heartbeat-store.ts';

export type ReplicaQuestion = {
  /** @throws Error when the server does not answer in time; the next question opens a connection of its own */
  ask(process: string): Promise<ReplicaAnswer>;
  close(): void;
};

type Opened = { readonly client: Client; readonly socket: Socket };

/** Asks a replica on a connection beside the pool, which may be full of long statements. */
export function createReplicaQuestion(url: string, limitMs: number): ReplicaQuestion {
  let opened: Opened | undefined;

  const close = () => {
    // Our own socket can be destroyed when the peer is silent; `end()` would wait for ever.
    opened?.socket.destroy();
    opened = undefined;
  };

  const connect = async (): Promise<Client> => {
    const socket = new Socket();
    const client = new Client({
      connectionString: url,
      application_name: 'tallystick replica',
      connectionTimeoutMillis: limitMs,
      stream: () => socket,
    });
    // What a lost connection tells, the next question tells too.
    client.on('error', () => {});
    opened = { client, socket };
    await client.connect();
    return client;
  };

  const ask = async (process: string) => readBeat(opened?.client ?? (await connect()), process);

  return {
    async ask(process) {
      try {
        return await inTime(ask(process), limitMs, `no answer in ${limitMs} ms`);
      } catch (error) {
        close();
        throw error;
      }
    },
    close,
  };
}
