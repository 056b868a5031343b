import type { Caller } from '../contract/operation.ts';
import { isScope } from '../contract/scopes.ts';
import type { Database } from '../contract/transaction.ts';
import { reachOf } from '../db/connection/reach.ts';
import { type RateColumns, toRateLimit } from './key-store.ts';

const table = 'api_keys';
const sql = `
  SELECT id, company_id, rate_per_second, rate_burst, scopes, event_id,
    revoked_at IS NULL AND (expires_at IS NULL OR expires_at > now()) AS usable,
    extract(epoch FROM expires_at - now())::float8 AS seconds_left
  FROM ${table} WHERE hash = ?`;

type Row = RateColumns & {
  id: string;
  company_id: string | null;
  scopes: string[] | null;
  event_id: string | null;
  usable: boolean;
  seconds_left: number | null;
};

/** What a verifier needs to know about a key, by the clock of the database, which all processes share. */
export type StoredKey = {
  readonly caller: Caller;
  /** Neither revoked nor expired. */
  readonly usable: boolean;
  /** Seconds until it expires; Infinity when it never expires. */
  readonly secondsLeft: number;
};

function fromRow(row: Row): StoredKey {
  return {
    caller: {
      keyId: row.id,
      companyId: row.company_id,
      rateLimit: toRateLimit(row),
      // A scope that only a later release knows opens nothing here.
      scopes: row.scopes?.filter(isScope) ?? null,
      eventId: row.event_id,
    },
    usable: row.usable,
    secondsLeft: row.seconds_left ?? Number.POSITIVE_INFINITY,
  };
}

/**
 * Finds a key by its SHA-256. The statement is named where that is possible: each connection plans it once.
 * @returns undefined when no such key was ever issued
 * @throws KnexTimeoutError after `timeoutMs`, waiting for a connection included
 */
export async function lookUpKey(
  db: Database,
  hash: Buffer,
  timeoutMs: number,
): Promise<StoredKey | undefined> {
  const named = reachOf(db).namesStatements ? { name: 'look_up_key_with_event' } : {};
  const { rows }: { rows: Row[] } = await db.raw(sql, [hash]).options(named).timeout(timeoutMs);
  const [row] = rows;
  return row && fromRow(row);
}
