import type { Knex } from 'knex';
import type { Tx } from '../contract/transaction.ts';
import { prepared } from './prepared.ts';
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
  /**
   * Locks the scope until the end of `tx`, unless another transaction holds it, and looks for its record. What
   * another commits between the look and the lock is not seen: then the record cannot be saved.
   */
  claim(tx: Tx, scope: IdempotencyScope): Promise<{ isOurs: boolean; record: IdempotencyRecord | undefined }>;
  /**
   * Keeps the record for 24 h, in place of an expired one.
   * @returns false when the scope has a record by now
   */
  save(tx: Tx, scope: IdempotencyScope, record: IdempotencyRecord): Promise<boolean>;
};

type Row = { readonly locked: boolean } & (
  | { readonly request_hash: null }
  | {
      readonly request_hash: Buffer;
      readonly status: number;
      readonly headers: Record<string, string>;
      readonly answer: unknown;
    }
);

const claim = `
  SELECT pg_try_advisory_xact_lock(hashtextextended($5, 0)) AS locked, r.request_hash, r.status, r.headers, r.answer
  FROM (VALUES (1)) AS one LEFT JOIN ${table} r
    ON r.company_id = $1 AND r.method = $2 AND r.path = $3 AND r.key = $4 AND r.expires_at > now()`;

const save = `
  INSERT INTO ${table} AS r (company_id, method, path, key, request_hash, status, headers, answer, expires_at)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, now() + interval '24 hours')
  ON CONFLICT (company_id, method, path, key) DO UPDATE SET request_hash = excluded.request_hash,
    status = excluded.status, headers = excluded.headers, answer = excluded.answer,
    created_at = excluded.created_at, expires_at = excluded.expires_at
  WHERE r.expires_at <= now()`;

export function createIdempotencyStore(db: Knex): IdempotencyStore {
  return {
    transaction: (work) => inTransaction(db, work),

    async claim(tx, { companyId, method, path, key }) {
      // U+0001 cannot stand in a path or a header, so no two scopes have one name.
      const name = ['idempotency', companyId, method, path, key].join('\u0001');
      const values = [companyId, method, path, key, name];
      const [row] = (await prepared<Row>(tx, 'idempotency_claim', claim, values)).rows;
      if (row === undefined || row.request_hash === null) {
        return { isOurs: row?.locked === true, record: undefined };
      }
      const { request_hash: requestHash, status, headers, answer } = row;
      return { isOurs: row.locked, record: { requestHash, status, headers, answer } };
    },

    async save(tx, { companyId, method, path, key }, { requestHash, status, headers, answer }) {
      const texts = [JSON.stringify(headers), JSON.stringify(answer ?? null)];
      const values = [companyId, method, path, key, requestHash, status, ...texts];
      return (await prepared(tx, 'idempotency_save', save, values)).rowCount === 1;
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
