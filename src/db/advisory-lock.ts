import { hostname } from 'node:os';
import { Client } from 'pg';
import type { Database } from '../contract/transaction.ts';
import type { Logger } from '../log.ts';

/** A session-level advisory lock of PostgreSQL: one process holds it, among all processes over one database. */
export type AdvisoryLock = {
  /** Aborted when the lock was lost: the connection that holds it broke. */
  readonly lost: AbortSignal;
  /** Gives the lock up by ending its connection. Never rejects. */
  release(): Promise<void>;
};

type LockOptions = {
  /** A direct connection: behind a transaction pooler the lock would belong to nobody. */
  readonly url: string;
  readonly name: string;
  readonly log: Logger;
  /** Aborts the wait for the lock. */
  readonly signal: AbortSignal;
  /** Whether to wait while another process holds it; true by default. */
  readonly wait?: boolean;
  /** Time between two probes of the connection, and limit for the answer to each; 10,000 by default. */
  readonly pulseMs?: number;
};

/** Another process holds the lock, and the caller did not want to wait. */
export class LockHeldError extends Error {}

/** The process that holds a lock. */
export type LockHolder = {
  /** `host:pid`, from the application name of its connection. */
  readonly process: string;
  /** When its connection was opened; null where the server does not show it. */
  readonly connectedAt: Date | null;
};

// The server keeps 63 characters of it.
const holderName = (name: string) => `${name} at ${hostname().slice(0, 20)}:${process.pid}`;

// The server shows no more of sessions of other users.
type HolderRow = { readonly application_name: string | null; readonly backend_start: Date | null };

/** @returns undefined when no process holds the lock of this name */
export async function findLockHolder(db: Database, name: string): Promise<LockHolder | undefined> {
  const { rows } = await db.raw<{ rows: HolderRow[] }>(
    `SELECT a.application_name, a.backend_start FROM pg_locks l JOIN pg_stat_activity a USING (pid)
     WHERE l.locktype = 'advisory' AND l.granted AND l.objsubid = 1
       AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
       AND ((l.classid::bigint << 32) | l.objid::bigint) = hashtextextended(?, 0)`,
    [name],
  );
  const [row] = rows;
  if (row === undefined) return undefined;
  const { application_name: application, backend_start: connectedAt } = row;
  return { process: application?.split(' at ').at(-1) ?? 'another process', connectedAt };
}

/**
 * Acquires the lock of this name on a connection of its own, and waits while another process holds it. The server
 * releases the lock of a process that dies: at once when it was killed, after the server's TCP keep-alive when its
 * machine is gone.
 * @throws LockHeldError when it must not wait; Error when the database is out of reach or the signal aborts
 */
export async function acquireAdvisoryLock({
  url,
  name,
  log,
  signal,
  wait = true,
  pulseMs = 10_000,
}: LockOptions): Promise<AdvisoryLock> {
  const client = new Client({
    connectionString: url,
    application_name: holderName(name),
    connectionTimeoutMillis: 5_000,
    keepAlive: true,
  });
  const lost = new AbortController();
  const lose = (error?: Error) => {
    if (lost.signal.aborted) return;
    if (error !== undefined) log.warn({ err: error, lock: name }, 'advisory lock lost');
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
  if (rows[0]?.got === false) throw new LockHeldError(`${name} is held by another process`);
}
