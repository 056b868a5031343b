import { createHash, randomUUID } from 'node:crypto';
import type { AnswerForm, AnyReply, Once, OnceOptions } from '../../contract/operation.ts';
import type { Tx } from '../../contract/transaction.ts';
import {
  type IdempotencyScope,
  type IdempotencyStore,
  RecordedMeanwhileError,
} from '../../db/idempotency-store.ts';
import type { Sharing } from '../../db/shared-transactions.ts';
import { problem } from '../../errors.ts';

type OnceDeps = {
  readonly store: IdempotencyStore;
  /** The operation and who calls it. */
  readonly line: string;
  /** Absent when the caller sent no `Idempotency-Key`: then the work only gets its transaction. */
  readonly scope: IdempotencyScope | undefined;
  /** The parsed body as it was sent. */
  readonly body: unknown;
};

/**
 * Makes the `once` of one request. The look-up happens in the transaction of the work, under a lock that
 * is only tried for: two requests with one key never run at once, and the second is told so.
 */
export function createOnce({ store, line, scope, body }: OnceDeps): Once {
  return async <R extends AnyReply>(work: Work<R>, { answer = asItIs<R>(), shared }: OnceOptions<R> = {}) => {
    const sharing = shared && sharingOf(line, scope, shared.about);
    const recorded =
      scope === undefined ? work : workOnce({ store, scope, requestHash: hashOf(body) }, work, answer);
    try {
      return await store.transaction(recorded, sharing);
    } catch (error) {
      // The same request was done while this one began: what this one did is undone.
      if (error instanceof RecordedMeanwhileError) throw problem('idempotency_in_progress');
      throw error;
    }
  };
}

/** Those with a key ask for one thing more before their rows: not in one line with the others, so that no two deadlock. */
function sharingOf(line: string, scope: IdempotencyScope | undefined, about: string | undefined): Sharing {
  if (scope === undefined) return { line: `${line} without key`, about: about ?? randomUUID() };
  return { line: `${line} with key`, about: about ?? `${scope.path} ${scope.key}` };
}

type Work<R> = (tx: Tx) => Promise<R>;
type Request = {
  readonly store: IdempotencyStore;
  readonly scope: IdempotencyScope;
  readonly requestHash: Buffer;
};

function workOnce<R extends AnyReply>(request: Request, work: Work<R>, answer: AnswerForm<R>): Work<R> {
  const { store, scope, requestHash } = request;
  return async (tx) => {
    // What is found has been committed. A lock that is held while there is a record belongs to another replay.
    const { isOurs, record } = await store.claim(tx, scope);
    if (record === undefined) {
      if (!isOurs) throw problem('idempotency_in_progress');
      const reply = await work(tx);
      if (reply.status >= 200 && reply.status < 300) {
        const { status, headers = {} } = reply;
        await store.save(tx, scope, { requestHash, status, headers, answer: answer.store(reply.body) });
      }
      return reply;
    }
    if (!record.requestHash.equals(requestHash)) throw problem('idempotency_key_reused');
    const restored = await answer.restore(tx, record.answer);
    const reply: AnyReply = {
      status: record.status,
      headers: { ...record.headers, 'Idempotency-Replayed': 'true' },
      body: restored,
    };
    return reply as R; // stored from a reply of this operation, whose path is part of the scope
  };
}

function asItIs<R extends AnyReply>(): AnswerForm<R> {
  return {
    store: (body) => body,
    // A reply without a body was stored as null; no operation answers with a bare null.
    restore: async (_tx, stored) => (stored ?? undefined) as R['body'], // stored from such a body
  };
}

function hashOf(body: unknown): Buffer {
  return createHash('sha256').update(canonical(body)).digest();
}

/** The JSON text of a value with sorted keys, so that the same body in another order is the same body. */
function canonical(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? '';
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`;
  const fields = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${fields.map(([key, inner]) => `${JSON.stringify(key)}:${canonical(inner)}`).join()}}`;
}
