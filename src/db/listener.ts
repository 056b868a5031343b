import { Client } from 'pg';
import type { Logger } from '../log.ts';

type ListenerOptions = {
  readonly url: string;
  readonly channels: readonly string[];
  readonly log: Logger;
  readonly onNotify: (channel: string, payload: string) => void;
  /** Called whenever notifications may have been missed: the connection dropped or was made anew. */
  readonly onGap: () => void;
};

export type Listener = { close(): Promise<void> };

const reconnectDelays = [100, 250, 500, 1_000, 2_000, 5_000];

/**
 * LISTENs on a connection of its own: a pooled one, or one behind a transaction pooler, would lose
 * notifications. Reconnects for as long as it is not closed, at most 5 s apart. Resolves once the first
 * attempt has listened or failed; a failed one goes on in the background.
 */
export async function createListener(options: ListenerOptions): Promise<Listener> {
  const state: { client: Client | undefined; timer: NodeJS.Timeout | undefined; closed: boolean } = {
    client: undefined,
    timer: undefined,
    closed: false,
  };

  const retry = (attempt: number) => {
    if (state.closed) return;
    const delay = reconnectDelays[Math.min(attempt, reconnectDelays.length - 1)];
    state.timer = setTimeout(() => void connect(attempt + 1), delay);
  };

  const connect = async (attempt: number): Promise<void> => {
    const client = new Client({
      connectionString: options.url,
      application_name: 'tallystick listener',
      connectionTimeoutMillis: 5_000,
      keepAlive: true,
    });
    state.client = client;
    client.on('error', (error) => options.log.warn({ err: error }, 'notification connection failed'));
    client.on('notification', ({ channel, payload }) => options.onNotify(channel, payload ?? ''));
    try {
      await client.connect();
      for (const channel of options.channels)
        await client.query(`LISTEN ${client.escapeIdentifier(channel)}`);
    } catch (error) {
      options.log.warn({ err: error }, 'cannot listen for notifications, retrying');
      client.end().catch(() => {});
      return retry(attempt);
    }
    client.once('end', () => {
      options.onGap();
      retry(0);
    });
    options.onGap();
  };

  await connect(0);
  return {
    async close() {
      state.closed = true;
      clearTimeout(state.timer);
      await state.client?.end().catch(() => {});
    },
  };
}
