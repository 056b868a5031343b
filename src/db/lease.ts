import { hostname } from 'node:os';
import { Client } from 'pg';
import type { Database } from '../contract/transaction.ts';
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
  /** Whether to wait for one who holds it; true by default. */
  readonly wait?: boolean;
  /** Time between two signs of life asked of the connection, and for each to come; 10 s by default. */
  readonly pulseMs?: number;
};

/** Somebody else has the lease, and there was to be no waiting. */
export class LeaseHeldError extends Error {}

/** Who holds a lease. */
export type LeaseHolder = {
  /** Host and process id, as the process said them. */
  readonly process: string;
  /** When it connected to hold it, or to wait for it; null where the server does not tell us. */
  readonly connectedAt: Date | null;
};

// The server keeps 63 characters of it.
const holderName = (name: string) => `${name} at ${hostname().slice(0, 20)}:${process.pid}`;

// Of the sessions of other users the server tells nothing more.
type HolderRow = { readonly application_name: string | null; readonly backend_start: Date | null };

/** @returns undefined when nobody holds the lease of this name */
export async function findLeaseHolder(
  { db }: { readonly db: Database },
  lease: string,
): Promise<LeaseHolder | undefined> {
  const { rows } = await db.raw<{ rows: HolderRow[] }>(
    `SELECT a.application_name, a.backend_start FROM pg_locks l JOIN pg_stat_activity a USING (pid)
     WHERE l.locktype = 'advisory' AND l.granted AND l.objsubid = 1
       AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
       AND ((l.classid::bigint << 32) | l.objid::bigint) = hashtextextended(?, 0)`,
    [lease],
  );
  const [row] = rows;
  if (row === undefined) return undefined;
  const { application_name: name, backend_start: connectedAt } = row;
  return { process: name?.split(' at ').at(-1) ?? 'another process', connectedAt };
}

/**
 * Waits until nobody else holds the lease of this name. The server takes it from a process that dies, at once
 * when it was killed, and after the server's keep-alive when its machine is gone.
 * @throws LeaseHeldError; and when the database is not reached, or the waiting was given up
 */
export async function acquireLease({
  url,
  name,
  log,
  signal,
  wait = true,
  pulseMs = 10_000,
}: LeaseOptions): Promise<Lease> {
  const client = new Client({
    connectionString: url,
    application_name: holderName(name),
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
    await lock(client, name, wait);
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

async function lock(client: Client, name: string, wait: boolean): Promise<void> {
  const lockFunction = wait ? 'pg_advisory_lock' : 'pg_try_advisory_lock';
  const { rows } = await client.query(`SELECT ${lockFunction}(hashtextextended($1, 0)) AS got`, [name]);
  if (rows[0]?.got === false) throw new LeaseHeldError(`${name} is held by another process`);
}
