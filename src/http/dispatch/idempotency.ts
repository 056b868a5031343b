import { createHash } from 'node:crypto';
import { problem } from '../../base/errors.ts';
import type { AnswerForm, AnyReply, IdempotentRequest, Once } from '../../contract/operation.ts';
import type { Database, Tx } from '../../contract/transaction.ts';
import { byStatement, inTransaction } from '../../db/connection/transaction.ts';
import { claimRecords, type IdempotencyRecord, saveRecords } from '../../db/records/idempotency-store.ts';

/**
 * Makes the `once` of one request. The record is read in the transaction of the work, under a lock that is only
 * tried for: two requests with one key never run at once, and the second one is rejected.
 */
export function createOnce(db: Database, request: IdempotentRequest | undefined): Once {
  return (work, form = asItIs()) =>
    inTransaction(db, (tx) => (request === undefined ? work(tx) : workOnce(tx, request, work, form)));
}

/** Makes the `onceByStatement` of one request. */
export function createOnceByStatement(db: Database, request: IdempotentRequest | undefined) {
  const once = createOnce(db, request);
  return <R extends AnyReply>(work: (db: Database) => Promise<R>, form?: AnswerForm<R>): Promise<R> =>
    request === undefined ? byStatement(db, work) : once(work, form);
}

async function workOnce<R extends AnyReply>(
  tx: Tx,
  request: IdempotentRequest,
  work: (tx: Tx) => Promise<R>,
  form: AnswerForm<R>,
): Promise<R> {
  const [claim] = await claimRecords(tx, [request]);
  if (claim?.kind === 'done') return replay(tx, request, claim.record, form);
  if (claim?.kind !== 'free') throw problem('idempotency_in_progress');
  const reply = await work(tx);
  if (reply.status >= 200 && reply.status < 300) {
    const { status, headers = {}, body } = reply;
    await saveRecords(tx, [{ request, status, headers, answer: form.store(body) }]);
  }
  return reply;
}

async function replay<R extends AnyReply>(
  tx: Tx,
  request: IdempotentRequest,
  record: IdempotencyRecord,
  form: AnswerForm<R>,
): Promise<R> {
  if (!record.requestHash.equals(request.requestHash)) throw problem('idempotency_key_reused');
  const reply: AnyReply = {
    status: record.status,
    headers: { ...record.headers, 'Idempotency-Replayed': 'true' },
    body: await form.restore(tx, record.answer),
  };
  return reply as R; // stored from a reply of this operation, whose path is part of the scope
}

function asItIs<R extends AnyReply>(): AnswerForm<R> {
  return {
    store: (body) => body,
    // A reply without a body was stored as null; no operation answers with a bare null.
    restore: async (_tx, stored) => (stored ?? undefined) as R['body'], // stored from such a body
  };
}

/** SHA-256 of a parsed body: the same for the same fields in another order. */
export function hashBody(body: unknown): Buffer {
  return createHash('sha256').update(canonical(body)).digest();
}

/** The JSON text of a value with sorted keys. */
function canonical(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? '';
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`;
  const fields = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${fields.map(([key, inner]) => `${JSON.stringify(key)}:${canonical(inner)}`).join()}}`;
}
