import { Client } from 'pg';
import type { Logger } from '../log.ts';

/** The right to do something alone, among all processes over one database. */
export type Lease = {
  /** Aborted when the right was lost: the connection that holds it broke. */
  readonly lost: AbortSignal;
  release(): Promise<void>;
};

type LeaseOptions = {
  /** A direct connection: behind a transaction pooler the lock would belong to nobody. */
  readonly url: string;
  readonly name: string;
  readonly log: Logger;
  /** Gives up waiting. */
  readonly signal: AbortSignal;
  /** Time between two signs of life asked of the connection, and for each to come; 10 s by default. */
  readonly pulseMs?: number;
};

/**
 * Waits until nobody else holds the lease of this name. The server takes it from a process that dies, at once
 * when it was killed, and after the server's keep-alive when its machine is gone.
 * @throws when the database is not reached, or the waiting was given up
 */
export async function acquireLease({
  url,
  name,
  log,
  signal,
  pulseMs = 10_000,
}: LeaseOptions): Promise<Lease> {
  const client = new Client({
    connectionString: url,
    application_name: `tallystick lease ${name}`,
    connectionTimeoutMillis: 5_000,
    keepAlive: true,
  });
  const lost = new AbortController();
  const lose = (error?: Error) => {
    if (lost.signal.aborted) return;
    if (error !== undefined) log.warn({ err: error, lease: name }, 'lease lost');
    lost.abort();
  };
  client.on('error', lose);
  client.on('end', () => lose());
  const giveUp = () => void client.end().catch(() => {});
  signal.addEventListener('abort', giveUp, { once: true });
  try {
    signal.throwIfAborted();
    await client.connect();
    await client.query('SELECT pg_advisory_lock(hashtextextended($1, 0))', [name]);
    signal.throwIfAborted();
  } catch (error) {
    giveUp();
    throw error;
  } finally {
    signal.removeEventListener('abort', giveUp);
  }
  const pulse = setInterval(() => {
    const answer = client.query('SELECT 1');
    const late = setTimeout(() => lose(new Error('no sign of life')), pulseMs).unref();
    answer.then(() => clearTimeout(late), lose);
  }, pulseMs).unref();
  lost.signal.addEventListener('abort', () => clearInterval(pulse), { once: true });
  return {
    lost: lost.signal,
    async release() {
      lose();
      await client.end().catch(() => {});
    },
  };
}
