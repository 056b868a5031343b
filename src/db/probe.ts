import { Socket } from 'node:net';
import { Client, DatabaseError } from 'pg';
import { codeOf } from './outage.ts';

/**
 * Asks the server, on a connection of its own, what it does for connections. Never rejects.
 * @param names the application names of the connections; behind a pooler, no number of a process tells whose it is
 * @returns the state of each as `pg_stat_activity` names it, without those that it does not show; `refused` when the
 *   server is there and does not say, `silent` when it does not answer in time
 */
export type Probe = (names: readonly string[]) => Promise<'refused' | 'silent' | ReadonlyMap<string, string>>;

const limitMs = 3_000;

export function createProbe(url: string): Probe {
  return async (names) => {
    // Our own socket can be destroyed when the peer is silent; `end()` would wait for ever.
    const socket = new Socket();
    const client = new Client({
      connectionString: url,
      application_name: 'tallystick probe',
      connectionTimeoutMillis: limitMs,
      query_timeout: limitMs,
      stream: () => socket,
    });
    // What a failed connection tells later is of no use any more.
    client.on('error', () => {});
    const late = setTimeout(() => socket.destroy(), limitMs);
    try {
      await client.connect();
      const { rows } = await client.query<{ name: string; state: string | null }>(
        'SELECT application_name AS name, state FROM pg_stat_activity WHERE application_name = ANY ($1::text[])',
        [[...names]],
      );
      return new Map(rows.flatMap(({ name, state }) => (state === null ? [] : [[name, state] as const])));
    } catch (error) {
      return tellsNothing(error) ? 'refused' : 'silent';
    } finally {
      clearTimeout(late);
      socket.destroy();
    }
  };
}

/** A server that refuses is there, such as one with too many connections; a name that is not found is no server at all. */
function tellsNothing(error: unknown): boolean {
  if (error instanceof DatabaseError) return true;
  return error instanceof Error && /^(ENOTFOUND|EAI_AGAIN)$/.test(codeOf(error));
}
