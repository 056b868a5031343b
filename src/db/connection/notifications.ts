import { Socket } from 'node:net';
import { Client } from 'pg';
import type { Logger } from '../../base/log.ts';
import { beginSession, serviceLimits } from './session-limits.ts';

type NotificationOptions = {
  /** A direct connection: a transaction pooler would lose notifications. */
  readonly url: string;
  readonly log: Logger;
  /** Time between two probes of the connection, and limit for the answer to each; 5,000 by default. */
  readonly pulseMs?: number;
};

type Subscription = {
  readonly channel: string;
  readonly onNotify: (payload: string) => void;
  /** Called whenever notifications may have been missed: the connection dropped or was re-established. */
  readonly onGap: () => void;
};

/** The notifications that a process gets by LISTEN, over one connection for all subscribers. */
export type Notifications = {
  /**
   * Resolves once the first attempt to listen has succeeded or failed; after a failure the attempts continue in the
   * background.
   * @returns a function that ends the subscription
   */
  subscribe(subscription: Subscription): Promise<() => void>;
  close(): Promise<void>;
};

const reconnectDelays = [100, 250, 500, 1_000, 2_000, 5_000];
const connectTimeoutMs = 5_000;

/**
 * Creates what listens for notifications, on a connection of its own. It is opened at the first subscription, and again,
 * with at most 5 s between attempts, until it is closed.
 */
export function createNotifications(options: NotificationOptions): Notifications {
  const { log } = options;
  const subscriptions = new Set<Subscription>();
  const state: { session?: Session | undefined; timer?: NodeJS.Timeout; closed: boolean } = { closed: false };
  let first: Promise<void> | undefined;

  const deliver = (channel: string, payload: string) => {
    for (const each of subscriptions) if (each.channel === channel) each.onNotify(payload);
  };
  const tellGap = () => {
    for (const each of subscriptions) each.onGap();
  };

  const connect = async (failures: number): Promise<void> => {
    const session = createSession(options, deliver);
    state.session = session;
    let failed = failures + 1;
    // Handled before the start is awaited: a connection may be lost right after LISTEN.
    const over = session.over.then((err) => {
      state.session = undefined;
      if (state.closed) return;
      // Once for each time that it is lost, however often the attempts after it fail.
      if (failed === 1) log.warn({ err }, 'notification connection lost, reconnecting');
      tellGap();
      const delay = reconnectDelays[Math.min(failed, reconnectDelays.length) - 1];
      state.timer = setTimeout(() => void connect(failed), delay);
    });
    const listening = session.start([...subscriptions].map(({ channel }) => channel)).then(() => {
      if (failures > 0) log.info({ attempts: failed }, 'notification connection is back');
      failed = 0;
      // Notifications between the last connection and this one are lost.
      tellGap();
    });
    await Promise.race([listening, over]);
  };

  return {
    async subscribe(subscription) {
      subscriptions.add(subscription);
      if (first === undefined) {
        first = connect(0);
        await first;
      } else {
        await first;
        await state.session?.listen(subscription.channel);
        subscription.onGap();
      }
      return () => subscriptions.delete(subscription);
    },
    async close() {
      state.closed = true;
      clearTimeout(state.timer);
      await state.session?.close();
    },
  };
}

type Session = {
  /** Connects and listens. Never settles after a failure; then `over` resolves. */
  start(channels: readonly string[]): Promise<void>;
  /** Listens to one more channel. Never rejects; after a failure `over` resolves. */
  listen(channel: string): Promise<void>;
  /** Resolves with the reason once the connection is unusable. */
  readonly over: Promise<unknown>;
  close(): Promise<void>;
};

/** One connection, from its start to its loss. */
function createSession(
  { url, pulseMs = 5_000 }: NotificationOptions,
  deliver: (channel: string, payload: string) => void,
): Session {
  // Our own socket can be destroyed when the peer is silent; `end()` would wait for ever.
  const socket = new Socket();
  const client = new Client({
    connectionString: url,
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
  client.on('notification', ({ channel, payload }) => deliver(channel, payload ?? ''));

  const listen = (channel: string) => client.query(`LISTEN ${client.escapeIdentifier(channel)}`);
  const begin = async (channels: readonly string[]) => {
    await client.connect();
    await client.query(beginSession('tallystick listener', serviceLimits));
    for (const channel of channels) await listen(channel);
    // A network that drops packets passes for an idle database. Only an answer distinguishes them.
    pulse = setInterval(() => client.query('SELECT 1').catch(finish), pulseMs).unref();
  };

  return {
    start: (channels) => new Promise((listening) => begin(channels).then(listening, finish)),
    listen: (channel) => listen(channel).then(() => {}, finish),
    over,
    async close() {
      clearInterval(pulse);
      const ended = client.end().catch(() => {});
      await Promise.race([ended, over, new Promise((give) => setTimeout(give, 500).unref())]);
      finish(new Error('the listener was closed'));
    },
  };
}
