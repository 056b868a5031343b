import type { Request, Response } from 'express';
import type { Logger } from '../../base/log.ts';
import type { Release } from '../../base/semaphore.ts';
import type { Span } from '../../base/span.ts';
import type {
  Caller,
  CallerContext,
  CompanyContext,
  IdempotentRequest,
  Origin,
  RequestContext,
} from '../../contract/operation.ts';
import type { Database } from '../../contract/transaction.ts';
import { callerAddress } from '../server/caller-address.ts';
import { networkOf } from '../server/network-of.ts';
import { factsOf, type RequestFacts } from '../server/request-context.ts';
import type { Gate } from './gate.ts';
import { createOnce, createOnceByStatement, hashBody } from './idempotency.ts';
import type { OperationPlan } from './operation-plan.ts';

/**
 * Begins the span of a request, or returns the span that has begun.
 * @param isTrusted whether the span goes on with the trace that the request names
 */
export type BeginSpan = (isTrusted: boolean) => Span;

/** One request and its response on their way through dispatch. */
export type Exchange = {
  readonly request: Request;
  readonly response: Response;
  readonly facts: RequestFacts;
  /** Undefined without traces. */
  beginSpan?: BeginSpan | undefined;
  caller?: Caller;
  /** The scopes of which the operation needs one; null where any key will do. */
  requiredScopes?: OperationPlan['requiredScopes'];
  /** The body as it was sent, for the comparison of repeated requests. */
  sentBody?: unknown;
  /** Ends what the admission counts of the request; undefined before it was admitted. */
  release?: Release;
  /** Whether the request was admitted as one with a large response. */
  isLarge?: boolean;
};

export function openExchange(request: Request, response: Response): Exchange {
  return { request, response, facts: factsOf(response) };
}

type ContextOptions = {
  readonly log: Logger;
  readonly db: Database;
  readonly gate: Pick<Gate, 'admitAgain'>;
};

/** What a handler gets in addition to its input: everything for a company, less for a mere key or the public. */
export function openContext(
  exchange: Exchange,
  plan: OperationPlan,
  options: ContextOptions,
): RequestContext | CallerContext | CompanyContext {
  return new HandlerContext(exchange, plan, options);
}

/** Each part is made when a handler asks for it: most ask for few. */
class HandlerContext {
  readonly log: Logger;
  readonly #db: Database;
  readonly #gate: ContextOptions['gate'];
  readonly #exchange: Exchange;
  readonly #plan: OperationPlan;

  constructor(exchange: Exchange, plan: OperationPlan, { log, db, gate }: ContextOptions) {
    this.log = log;
    this.#db = db;
    this.#gate = gate;
    this.#exchange = exchange;
    this.#plan = plan;
  }

  get requestId(): string {
    return this.#exchange.facts.requestId;
  }

  get address(): string {
    return callerAddress(this.#exchange.request);
  }

  get network(): string {
    return networkOf(this.address);
  }

  get preferred(): RequestContext['preferred'] {
    const { request } = this.#exchange;
    return (types) => {
      // A caller may name the charset that the answer has, and Express compares parameters too.
      const accepted = request.accepts(types.flatMap((type) => [type, `${type}; charset=utf-8`]));
      return types.find((type) => accepted !== false && accepted.startsWith(type)) ?? types[0];
    };
  }

  get caller(): Caller {
    const { caller } = this.#exchange;
    if (caller === undefined) throw new Error('the operation needs no key, so it has no caller');
    return caller;
  }

  get origin(): Origin {
    return { keyId: this.caller.keyId, address: this.address, requestId: this.requestId };
  }

  get assertStillAllowed(): CallerContext['assertStillAllowed'] {
    return () => this.#gate.admitAgain(this.#exchange.request, this.caller, this.#plan.requiredScopes);
  }

  get companyId(): string {
    const { companyId } = this.caller;
    if (!companyId) throw new Error('the caller has no company');
    return companyId;
  }

  get idempotency(): IdempotentRequest | undefined {
    return idempotencyOf(this.#exchange, this.#plan, this.companyId);
  }

  get once(): CompanyContext['once'] {
    return createOnce(this.#db, this.idempotency);
  }

  get onceByStatement(): CompanyContext['onceByStatement'] {
    return createOnceByStatement(this.#db, this.idempotency);
  }
}

/** The example of the document, which tools send as it is: the nil UUID stands for no key (RFC 9562, 5.9). */
const placeholderKey = '00000000-0000-0000-0000-000000000000';

function idempotencyOf(
  { request, sentBody }: Exchange,
  plan: OperationPlan,
  companyId: string,
): IdempotentRequest | undefined {
  const key = plan.isIdempotent ? request.headers['idempotency-key'] : undefined;
  if (typeof key !== 'string' || key === placeholderKey) return undefined;
  const path = request.baseUrl + request.path;
  return { companyId, method: request.method, path, key, requestHash: hashBody(sentBody) };
}
