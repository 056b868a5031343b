import { Socket } from 'node:net';
import { Client, DatabaseError } from 'pg';
import { codeOf } from './outage.ts';

/**
 * Asks the server, on a connection of its own, what its backends do. Never rejects.
 * @returns the state of each backend as `pg_stat_activity` names it, without those that it does not show; `silent` when
 *   the server does not answer in time
 */
export type Probe = (backends: readonly number[]) => Promise<'silent' | ReadonlyMap<number, string>>;

const limitMs = 3_000;

export function createProbe(url: string): Probe {
  return async (backends) => {
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
      const { rows } = await client.query<{ pid: number; state: string | null }>(
        'SELECT pid, state FROM pg_stat_activity WHERE pid = ANY ($1::int[])',
        [[...backends]],
      );
      return new Map(rows.flatMap(({ pid, state }) => (state === null ? [] : [[pid, state] as const])));
    } catch (error) {
      return tellsNothing(error) ? new Map() : 'silent';
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
