import { problem } from '../../base/errors.ts';
import type { IdempotentRequest } from '../../contract/operation.ts';
import type { Tx } from '../../contract/transaction.ts';
import { prepared } from '../connection/prepared.ts';

const table = 'idempotency_records';

/** A stored answer. `answer` is JSON without secrets; null for a reply without body. */
export type IdempotencyRecord = {
  /** SHA-256 of the request's body. */
  readonly requestHash: Buffer;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly answer: unknown;
};

/** `free`: the request may do its work. `done`: it was done before. `running`: another transaction does it now. */
export type Claim =
  | { readonly kind: 'free' }
  | { readonly kind: 'running' }
  | { readonly kind: 'done'; readonly record: IdempotencyRecord };

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

// Sub-selects with an offset are evaluated for each scope, by the key: the server never scans the table for all scopes.
const claim = `
  SELECT pg_try_advisory_xact_lock(hashtextextended(s.name, 0)) AS locked,
    r.request_hash, r.status, r.headers, coalesce(r.ordered_answer, r.answer::json) AS answer
  FROM ${scopes}, $5::text[]) WITH ORDINALITY AS s (company_id, method, path, key, name, place)
  LEFT JOIN LATERAL (
    SELECT * FROM ${table} r WHERE r.company_id = s.company_id AND r.method = s.method AND r.path = s.path
      AND r.key = s.key AND r.expires_at > now() OFFSET 0) r ON true
  ORDER BY s.place`;

/**
 * Locks the scope of each request until the end of `tx`, without waiting, and reads its record. The lock belongs to
 * the transaction: of one scope, a transaction may claim only one request. A record that is committed between the
 * read and the lock is not seen; then {@link saveRecords} fails.
 * @returns a claim for each request, in their order
 */
export async function claimRecords(tx: Tx, requests: readonly IdempotentRequest[]): Promise<Claim[]> {
  if (requests.length === 0) return [];
  const values = [...columnsOf(requests), requests.map(nameOf)];
  const { rows } = await prepared<Row>(tx, 'idempotency_claim', claim, values);
  return rows.map((row) => {
    if (row.request_hash === null) return { kind: row.locked ? 'free' : 'running' };
    // A locked record belongs to another replay.
    const { request_hash: requestHash, status, headers, answer } = row;
    return { kind: 'done', record: { requestHash, status, headers, answer } };
  });
}

const save = `
  INSERT INTO ${table} AS r (company_id, method, path, key, request_hash, status, headers, answer,
    ordered_answer, expires_at)
  SELECT company_id, method, path, key, request_hash, status, headers::jsonb, answer::jsonb,
    answer::json, now() + interval '24 hours'
  FROM ${scopes}, $5::bytea[], $6::int[], $7::text[], $8::text[])
    AS s (company_id, method, path, key, request_hash, status, headers, answer)
  ON CONFLICT (company_id, method, path, key) DO UPDATE SET request_hash = excluded.request_hash,
    status = excluded.status, headers = excluded.headers, answer = excluded.answer,
    ordered_answer = excluded.ordered_answer,    created_at = excluded.created_at, expires_at = excluded.expires_at
  WHERE r.expires_at <= now()`;

export type NewRecord = Omit<IdempotencyRecord, 'requestHash'> & { readonly request: IdempotentRequest };

/**
 * Stores the records for 24 h, in place of expired records.
 * @throws problem `idempotency_in_progress` when a scope has a record by now: `tx` must be rolled back
 */
export async function saveRecords(tx: Tx, records: readonly NewRecord[]): Promise<void> {
  if (records.length === 0) return;
  const requests = records.map(({ request }) => request);
  const { rowCount } = await prepared(tx, 'idempotency_save', save, [
    ...columnsOf(requests),
    requests.map(({ requestHash }) => requestHash),
    records.map(({ status }) => status),
    records.map(({ headers }) => JSON.stringify(headers)),
    records.map(({ answer }) => JSON.stringify(answer ?? null)),
  ]);
  if (rowCount < records.length) throw problem('idempotency_in_progress');
}

const columnsOf = (requests: readonly IdempotentRequest[]) => [
  requests.map(({ companyId }) => companyId),
  requests.map(({ method }) => method),
  requests.map(({ path }) => path),
  requests.map(({ key }) => key),
];

// U+0001 cannot occur in a path or a header, so no two scopes have the same name.
const nameOf = ({ companyId, method, path, key }: IdempotentRequest): string =>
  ['idempotency', companyId, method, path, key].join('\u0001');
