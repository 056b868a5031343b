import type { Request, Response } from 'express';
import type {
  Caller,
  CallerContext,
  CompanyContext,
  IdempotentRequest,
  RequestContext,
} from '../../contract/operation.ts';
import type { Database } from '../../contract/transaction.ts';
import type { Logger } from '../../log.ts';
import { factsOf, type RequestFacts } from '../server/request-context.ts';
import type { EndShare } from './answer-shares.ts';
import { createOnce, createOnceByStatement, hashBody } from './idempotency.ts';
import type { OperationPlan } from './operation-plan.ts';

/** One request and its response on their way through dispatch. */
export type Exchange = {
  readonly request: Request;
  readonly response: Response;
  readonly facts: RequestFacts;
  caller?: Caller;
  /** The body as it was sent, for the comparison of repeated requests. */
  sentBody?: unknown;
  /** Ends the turn in which the answer is made; undefined before the turn has come. */
  endShare?: EndShare;
};

export function openExchange(request: Request, response: Response): Exchange {
  return { request, response, facts: factsOf(response) };
}

type ContextOptions = { readonly log: Logger; readonly db: Database };

/** Makes what a handler gets beside its input: all of it for a company, less for a mere key or the public. */
export function handlerContext(exchange: Exchange, plan: OperationPlan, { log, db }: ContextOptions) {
  const { caller, facts, request } = exchange;
  const context: RequestContext = {
    requestId: facts.requestId,
    address: request.ip ?? '',
    preferred: (types) => types.find((type) => type === request.accepts([...types])) ?? types[0],
    log,
  };
  if (caller === undefined) return context;
  const { companyId } = caller;
  const origin = { keyId: caller.keyId, address: context.address, requestId: facts.requestId };
  if (!companyId) return Object.assign(context, { caller, origin }) satisfies CallerContext;
  const idempotency = idempotencyOf(exchange, plan, companyId);
  const once = createOnce(db, idempotency);
  const onceByStatement = createOnceByStatement(db, idempotency);
  const ofCompany = { caller, origin, companyId, once, onceByStatement, idempotency };
  return Object.assign(context, ofCompany) satisfies CompanyContext;
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
