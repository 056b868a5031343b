import type { Knex } from 'knex';
import type { Tx } from '../contract/transaction.ts';
import { inTransaction } from './transaction.ts';

const table = 'idempotency_records';

/** What an `Idempotency-Key` is bound to, beside the body. `path` is the full path without query. */
export type IdempotencyScope = {
  readonly companyId: string;
  readonly method: string;
  readonly path: string;
  readonly key: string;
};

/** A stored answer. `answer` is JSON without secrets; null for a reply without body. */
type IdempotencyRecord = {
  /** SHA-256 of the request's body. */
  readonly requestHash: Buffer;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly answer: unknown;
};

export type IdempotencyStore = {
  transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T>;
  /** False when another transaction holds the scope. Held until the end of `tx`. */
  tryLock(tx: Tx, scope: IdempotencyScope): Promise<boolean>;
  /** To be asked after the lock, in a statement of its own, so that it sees all that was committed before. */
  find(tx: Tx, scope: IdempotencyScope): Promise<IdempotencyRecord | undefined>;
  /** Keeps the record for 24 h, in place of an expired one. */
  save(tx: Tx, scope: IdempotencyScope, record: IdempotencyRecord): Promise<void>;
};

type Row = {
  readonly request_hash: Buffer;
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly answer: unknown;
};

export function createIdempotencyStore(db: Knex): IdempotencyStore {
  return {
    transaction: (work) => inTransaction(db, work),

    async tryLock(tx, { companyId, method, path, key }) {
      // U+0001 cannot stand in a path or a header, so no two scopes have one name.
      const name = ['idempotency', companyId, method, path, key].join('\u0001');
      const { rows } = await tx.raw<{ rows: { locked: boolean }[] }>(
        'SELECT pg_try_advisory_xact_lock(hashtextextended(?, 0)) AS locked',
        [name],
      );
      return rows[0]?.locked === true;
    },

    async find(tx, scope) {
      const row: Row | undefined = await tx(table)
        .where(columnsOf(scope))
        .whereRaw('expires_at > now()')
        .first('request_hash', 'status', 'headers', 'answer');
      return (
        row && {
          requestHash: row.request_hash,
          status: row.status,
          headers: row.headers,
          answer: row.answer,
        }
      );
    },

    async save(tx, scope, { requestHash, status, headers, answer }) {
      const record = {
        request_hash: requestHash,
        status,
        headers: JSON.stringify(headers),
        answer: JSON.stringify(answer ?? null),
        created_at: tx.fn.now(),
        expires_at: tx.raw("now() + interval '24 hours'"),
      };
      await tx(table)
        .insert({ ...columnsOf(scope), ...record })
        .onConflict(['company_id', 'method', 'path', 'key'])
        .merge(record);
    },
  };
}

/**
 * Deletes expired records, at most `limit` of them.
 * @returns how many were deleted; fewer than `limit` when none is left
 */
export async function purgeExpired(db: Knex, limit = 1_000): Promise<number> {
  const { rowCount } = await db.raw<{ rowCount: number }>(
    `DELETE FROM ${table} WHERE ctid IN (
       SELECT ctid FROM ${table} WHERE expires_at <= now() ORDER BY expires_at LIMIT ? FOR UPDATE SKIP LOCKED)`,
    [limit],
  );
  return rowCount;
}

function columnsOf({ companyId, method, path, key }: IdempotencyScope) {
  return { company_id: companyId, method, path, key };
}
