import { Socket } from 'node:net';
import { Client } from 'pg';
import type { Logger } from '../log.ts';

type ListenerOptions = {
  readonly url: string;
  readonly channels: readonly string[];
  readonly log: Logger;
  readonly onNotify: (channel: string, payload: string) => void;
  /** Called whenever notifications may have been missed: the connection dropped or was re-established. */
  readonly onGap: () => void;
  /** Time between two probes of the connection, and limit for the answer to each; 10,000 by default. */
  readonly pulseMs?: number;
};

export type Listener = { close(): Promise<void> };

const reconnectDelays = [100, 250, 500, 1_000, 2_000, 5_000];
const connectTimeoutMs = 5_000;

/**
 * Subscribes to notifications (LISTEN) on a dedicated connection: a pooled one, or one behind a transaction pooler,
 * would lose them. Reconnects until it is closed, with at most 5 s between attempts. Resolves once the first attempt
 * has succeeded or failed; after a failure the attempts continue in the background.
 */
export async function createListener(options: ListenerOptions): Promise<Listener> {
  const state: { session?: Session; timer?: NodeJS.Timeout; closed: boolean } = { closed: false };

  const connect = async (failures: number): Promise<void> => {
    const session = createSession(options);
    state.session = session;
    let failed = failures + 1;
    // Handled before the start is awaited: a connection may be lost right after LISTEN.
    const over = session.over.then((error) => {
      if (state.closed) return;
      options.log.warn({ err: error }, 'notification connection lost, reconnecting');
      options.onGap();
      const delay = reconnectDelays[Math.min(failed, reconnectDelays.length) - 1];
      state.timer = setTimeout(() => void connect(failed), delay);
    });
    const listening = session.start().then(() => {
      failed = 1;
      // Notifications between the last connection and this one are lost.
      options.onGap();
    });
    await Promise.race([listening, over]);
  };

  await connect(0);
  return {
    async close() {
      state.closed = true;
      clearTimeout(state.timer);
      await state.session?.close();
    },
  };
}

type Session = {
  /** Connects and listens. Never settles after a failure; then `over` resolves. */
  start(): Promise<void>;
  /** Resolves with the reason once the connection is unusable. */
  readonly over: Promise<unknown>;
  close(): Promise<void>;
};

/** One connection, from its start to its loss. */
function createSession({ url, channels, onNotify, pulseMs = 10_000 }: ListenerOptions): Session {
  // Our own socket can be destroyed when the peer is silent; `end()` would wait for ever.
  const socket = new Socket();
  const client = new Client({
    connectionString: url,
    application_name: 'tallystick listener',
    connectionTimeoutMillis: connectTimeoutMs,
    query_timeout: pulseMs,
    keepAlive: true,
    stream: () => socket,
  });
  let pulse: NodeJS.Timeout | undefined;
  const { promise: over, resolve } = Promise.withResolvers<unknown>();
  const finish = (error: unknown) => {
    clearInterval(pulse);
    socket.destroy();
    resolve(error);
  };
  client.on('error', finish);
  client.on('end', () => finish(new Error('the connection has ended')));
  client.on('notification', ({ channel, payload }) => onNotify(channel, payload ?? ''));

  const listen = async () => {
    await client.connect();
    for (const channel of channels) await client.query(`LISTEN ${client.escapeIdentifier(channel)}`);
    // A network that drops packets looks like an idle database; only an answer distinguishes them.
    pulse = setInterval(() => client.query('SELECT 1').catch(finish), pulseMs).unref();
  };

  return {
    start: () => new Promise((listening) => listen().then(listening, finish)),
    over,
    async close() {
      clearInterval(pulse);
      const ended = client.end().catch(() => {});
      await Promise.race([ended, over, new Promise((give) => setTimeout(give, 500).unref())]);
      finish(new Error('the listener was closed'));
    },
  };
}
