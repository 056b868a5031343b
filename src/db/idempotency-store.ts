import type { Knex } from 'knex';
import type { Tx } from '../contract/transaction.ts';
import { prepared } from './prepared.ts';
import { createSharedTransactions, type Sharing } from './shared-transactions.ts';
import { together } from './together.ts';
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
  /** @param sharing when the work may share its transaction: see `SharedTransactions` for what it must bear */
  transaction<T>(work: (tx: Tx) => Promise<T>, sharing?: Sharing): Promise<T>;
  /**
   * Locks the scope until the end of `tx`, unless another transaction holds it, and looks for its record. What
   * another commits between the look and the lock is not seen: then the record cannot be saved.
   */
  claim(tx: Tx, scope: IdempotencyScope): Promise<Claim>;
  /**
   * Keeps the record for 24 h, in place of an expired one.
   * @throws RecordedMeanwhileError when the scope has a record by now: nothing of `tx` may stay
   */
  save(tx: Tx, scope: IdempotencyScope, record: IdempotencyRecord): Promise<void>;
};

/** Another request of the same key has done the work. */
export class RecordedMeanwhileError extends Error {}

type Claim = { readonly isOurs: boolean; readonly record: IdempotencyRecord | undefined };
type Row = { readonly locked: boolean } & (
  | { readonly request_hash: null }
  | {
      readonly request_hash: Buffer;
      readonly status: number;
      readonly headers: Record<string, string>;
      readonly answer: unknown;
    }
);

const scopes = 'unnest($1::text[], $2::text[], $3::text[], $4::text[]';

// Sub-selects with an offset are asked for each scope, by the key: never one scan of the table for all of them.
const claim = `
  SELECT pg_try_advisory_xact_lock(hashtextextended(s.name, 0)) AS locked,
    r.request_hash, r.status, r.headers, r.answer
  FROM ${scopes}, $5::text[]) WITH ORDINALITY AS s (company_id, method, path, key, name, place)
  LEFT JOIN LATERAL (
    SELECT * FROM ${table} r WHERE r.company_id = s.company_id AND r.method = s.method AND r.path = s.path
      AND r.key = s.key AND r.expires_at > now() OFFSET 0) r ON true
  ORDER BY s.place`;

const save = `
  INSERT INTO ${table} AS r (company_id, method, path, key, request_hash, status, headers, answer, expires_at)
  SELECT company_id, method, path, key, request_hash, status, headers::jsonb, answer::jsonb,
    now() + interval '24 hours'
  FROM ${scopes}, $5::bytea[], $6::int[], $7::text[], $8::text[])
    AS s (company_id, method, path, key, request_hash, status, headers, answer)
  ON CONFLICT (company_id, method, path, key) DO UPDATE SET request_hash = excluded.request_hash,
    status = excluded.status, headers = excluded.headers, answer = excluded.answer,
    created_at = excluded.created_at, expires_at = excluded.expires_at
  WHERE r.expires_at <= now() RETURNING company_id, method, path, key`;

export function createIdempotencyStore(db: Knex): IdempotencyStore {
  const shared = createSharedTransactions(db);
  return {
    transaction: (work, sharing) =>
      sharing === undefined ? inTransaction(db, work) : shared.run(sharing, work),
    claim: (tx, scope) => together(tx, 'idempotency_claim', scope, (all) => claimAll(tx, all)),
    async save(tx, scope, record) {
      const item = { scope, record };
      const isSaved = await together(tx, 'idempotency_save', item, (items) => saveAll(tx, items));
      if (!isSaved) throw new RecordedMeanwhileError('The key has a record by now.');
    },
  };
}

async function claimAll(tx: Tx, all: readonly IdempotencyScope[]): Promise<Claim[]> {
  const values = [...columnsOf(all), all.map(nameOf)];
  const { rows } = await prepared<Row>(tx, 'idempotency_claim', claim, values);
  return rows.map((row) => {
    if (row.request_hash === null) return { isOurs: row.locked, record: undefined };
    const { request_hash: requestHash, status, headers, answer } = row;
    return { isOurs: row.locked, record: { requestHash, status, headers, answer } };
  });
}

type Kept = { readonly scope: IdempotencyScope; readonly record: IdempotencyRecord };
type ScopeRow = Omit<IdempotencyScope, 'companyId'> & { readonly company_id: string };

async function saveAll(tx: Tx, items: readonly Kept[]): Promise<boolean[]> {
  const records = items.map(({ record }) => record);
  const { rows } = await prepared<ScopeRow>(tx, 'idempotency_save', save, [
    ...columnsOf(items.map(({ scope }) => scope)),
    records.map(({ requestHash }) => requestHash),
    records.map(({ status }) => status),
    records.map(({ headers }) => JSON.stringify(headers)),
    records.map(({ answer }) => JSON.stringify(answer ?? null)),
  ]);
  const saved = new Set(rows.map(({ company_id: companyId, ...rest }) => nameOf({ companyId, ...rest })));
  return items.map(({ scope }) => saved.has(nameOf(scope)));
}

const columnsOf = (all: readonly IdempotencyScope[]) => [
  all.map(({ companyId }) => companyId),
  all.map(({ method }) => method),
  all.map(({ path }) => path),
  all.map(({ key }) => key),
];

// U+0001 cannot stand in a path or a header, so no two scopes have one name.
const nameOf = ({ companyId, method, path, key }: IdempotencyScope): string =>
  ['idempotency', companyId, method, path, key].join('\u0001');

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
