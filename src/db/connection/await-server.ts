import { setTimeout as pause } from 'node:timers/promises';
import { Client } from 'pg';
import type { Logger } from '../../base/log.ts';
import { codeOf, isOutage } from './outage.ts';

type WaitOptions = {
  readonly url: string;
  readonly log: Logger;
  /** For how long it waits; a minute by default. */
  readonly patienceMs?: number;
};

const attemptMs = 5_000;
const pauseMs = 500;

/**
 * Waits until the server of DATABASE_URL answers, which may start at the same moment as this process. Logs one line if it has
 * to wait.
 * @throws Error naming the server, without the password, when it has not answered in time; at once, what another try would not fix
 */
export async function untilServerAnswers({ url, log, patienceMs = 60_000 }: WaitOptions): Promise<void> {
  const began = performance.now();
  for (let tries = 1; ; tries += 1) {
    const failed = await tryServer(url);
    if (failed === undefined) return;
    const { server, error } = failed;
    if (!isDown(error)) throw error;
    const reason = error.message || codeOf(error);
    const seconds = Math.round(patienceMs / 1_000);
    if (performance.now() - began >= patienceMs) {
      throw new Error(
        `PostgreSQL at ${server} has not answered for ${seconds} s (${reason}): check that it runs, and host and port in DATABASE_URL.`,
        { cause: error },
      );
    }
    if (tries === 1)
      log.warn({ server, reason, seconds }, 'PostgreSQL does not answer yet, so the start waits');
    await pause(pauseMs);
  }
}

// No socket in its folder, or no way to its host; what the server says is for `isOutage`.
const isDown = (error: Error) => isOutage(error) || ('syscall' in error && error.syscall === 'connect');

async function tryServer(url: string): Promise<{ server: string; error: Error } | undefined> {
  const client = new Client({
    connectionString: url,
    application_name: 'tallystick start',
    connectionTimeoutMillis: attemptMs,
    query_timeout: attemptMs,
  });
  // Later events of a failed connection are of no use.
  client.on('error', () => {});
  try {
    await client.connect();
    // A pooler may answer by itself.
    await client.query('SELECT 1');
    return undefined;
  } catch (error) {
    const server = `${client.host}:${client.port}`;
    return { server, error: error instanceof Error ? error : new Error(String(error)) };
  } finally {
    void client.end().catch(() => {});
  }
}
