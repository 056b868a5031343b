import type { Logger } from '../base/log.ts';
import type { Streamable } from './item-stream.ts';
import type { Scope } from './scopes.ts';
import type { TextStream } from './text-stream.ts';
import type { Database, Tx } from './transaction.ts';

/** The caller that an API key resolves to. */
export type Caller = {
  readonly keyId: string;
  /** The company that all data access is limited to; null when the key has no company. */
  readonly companyId: string | null;
  /** The key's own limit; null means the default of the service. */
  readonly rateLimit: { readonly perSecond: number; readonly burst: number } | null;
  /** What the key is limited to; null for a key that may do everything. */
  readonly scopes: readonly Scope[] | null;
  /** The only event that the key is for, in lower case; null for a key that is for all events of its company. */
  readonly eventId: string | null;
};

/** What a handler of a public operation gets in addition to its input. */
export type RequestContext = {
  readonly requestId: string;
  /** The address of the caller. */
  readonly address: string;
  /** What counts as one caller without a key: an IPv4 address, or the first 64 bits of an IPv6 address. */
  readonly network: string;
  readonly log: Logger;
  /** Which of these media types the caller's `Accept` likes best; the first where it likes none. */
  readonly preferred: <T extends string>(types: readonly [T, ...T[]]) => T;
};

/** Where a request came from, for the audit log. */
export type Origin = { readonly keyId: string; readonly address: string; readonly requestId: string };

/** What a handler of an operation that needs only a valid key gets. */
export type CallerContext = RequestContext & {
  readonly caller: Caller;
  readonly origin: Origin;
  /**
   * Checks the key of the request again, for handlers that wait for longer than a key may outlive its end.
   * @throws ProblemError 401, 403, or 503 when nobody can verify the key
   */
  readonly assertStillAllowed: () => Promise<void>;
};

/** What a handler of an operation that belongs to a company gets. */
export type CompanyContext = CallerContext & {
  readonly companyId: string;
  readonly once: Once;
  /** The same for work that is a single statement, which needs no transaction around it without an `Idempotency-Key`. */
  readonly onceByStatement: <R extends AnyReply>(
    work: (db: Database) => Promise<R>,
    form?: AnswerForm<R>,
  ) => Promise<R>;
  /** For handlers that do not use `once`. Undefined when the caller sent no `Idempotency-Key`. */
  readonly idempotency: IdempotentRequest | undefined;
};

/** A request with an `Idempotency-Key`, and what the key is bound to. */
export type IdempotentRequest = {
  readonly companyId: string;
  readonly method: string;
  /** The full path without query. */
  readonly path: string;
  readonly key: string;
  /** SHA-256 of the body with its fields in a fixed order. */
  readonly requestHash: Buffer;
};

/**
 * Runs the work in one transaction. When the caller sent an `Idempotency-Key`, its record commits with the work, and
 * a repeated request is answered from the record without running the work.
 * @param form how a reply is stored without secrets and restored; by default its body is stored as it is
 */
export type Once = <R extends AnyReply>(work: (tx: Tx) => Promise<R>, form?: AnswerForm<R>) => Promise<R>;

export type AnswerForm<R extends AnyReply> = {
  /** Returns the part of the reply's body that may be stored: JSON without secrets. */
  readonly store: (body: R['body']) => unknown;
  /** Restores the body; reads its secrets from where they are stored encrypted. */
  readonly restore: (tx: Tx, stored: unknown) => Promise<R['body']>;
};

export type AnyReply = {
  readonly status: number;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
};

type Get<T, K extends string> = T extends { [P in K]?: infer V } ? NonNullable<V> : Record<never, never>;
type Parameters<Op, Place extends string> = Get<Get<Op, 'parameters'>, Place>;
type JsonOf<T> = T extends { content: { 'application/json': infer B } } ? B : undefined;

/** The validated and coerced input of an operation. */
type Input<Op> = {
  readonly path: Readonly<Parameters<Op, 'path'>>;
  readonly query: Readonly<Parameters<Op, 'query'>>;
  readonly header: Readonly<Parameters<Op, 'header'>>;
  readonly body: Op extends { requestBody: infer B }
    ? JsonOf<B>
    : Op extends { requestBody?: infer B }
      ? JsonOf<NonNullable<B>> | undefined
      : undefined;
};

type SuccessStatus = 200 | 201 | 202 | 204;
type Responses<Op> = Op extends { responses: infer R } ? R : never;
type ReplyBody<Body> = [Body] extends [undefined]
  ? { readonly body?: undefined }
  : { readonly body: Streamable<Body> | TextStream };

/** The replies that the document allows: success statuses with their bodies. Problems are thrown. */
type Reply<Op> = {
  [S in keyof Responses<Op> & SuccessStatus]: {
    readonly status: S;
    readonly headers?: Readonly<Record<string, string>>;
  } & ReplyBody<JsonOf<Responses<Op>[S]>>;
}[keyof Responses<Op> & SuccessStatus];

/**
 * One handler for every operation of a document, and no other. A missing or unknown handler, a wrong body
 * or an undocumented status is a compile error.
 */
export type Handlers<Operations, Context, Public extends keyof Operations = never> = {
  readonly [Id in keyof Operations]: (
    input: Input<Operations[Id]>,
    context: Id extends Public ? RequestContext : Context,
  ) => Promise<Reply<Operations[Id]>>;
};
