import type { ErrorObject } from 'ajv/dist/2020.js';
import type { Context, Handler, OpenAPIBackend } from 'openapi-backend';
import type { AnyReply, Caller } from '../../contract/operation.ts';
import type { Database } from '../../contract/transaction.ts';
import { type ProblemError, problem } from '../../errors.ts';
import type { Logger } from '../../log.ts';
import { currentScope } from '../../request-scope.ts';
import type { ApiRequest } from '../input/api-request.ts';
import type { BodyReader } from '../input/body.ts';
import { inputProblem } from '../input/input-problem.ts';
import type { AnswerShares, EndShare } from './answer-shares.ts';
import type { CompiledOperation, CompiledOperations } from './compiled-operations.ts';
import type { Matcher } from './compiled-router.ts';
import { type Exchange, handlerContext } from './exchange.ts';
import type { Gate } from './gate.ts';
import type { OperationPlan } from './operation-plan.ts';

/** A handler of any operation. Its exact types are checked where it is created, by the area's `Handlers` type. */
export type AnyHandler = (input: never, context: never) => Promise<AnyReply>;

type StepOptions = {
  readonly handlers: Readonly<Record<string, AnyHandler>>;
  readonly gate: Gate;
  readonly readBody: BodyReader;
  readonly shares: AnswerShares;
  readonly db: Database;
  readonly log: Logger;
  readonly operations: CompiledOperations;
  readonly match: Matcher;
};

/** Registers the steps between the library's own steps, and the handlers after them. */
export function registerSteps(api: OpenAPIBackend, options: StepOptions): void {
  const { operations, handlers } = options;
  const compiledOf = (context: Context) => lookUp(operations, context);
  api.register({
    notFound: () => {
      throw problem('not_found');
    },
    methodNotAllowed: refuseMethod(options.match),
    postSecurityHandler: admitAndRead(options, compiledOf),
    validationFail: (context) => {
      throw refuseInput(compiledOf(context).plan, requestOf(context), context.validation.errors ?? []);
    },
    preOperationHandler: (context) => {
      const { faults, isPathMalformed } = requestOf(context);
      if (faults.length === 0 && !isPathMalformed) return;
      throw refuseInput(compiledOf(context).plan, requestOf(context), []);
    },
  });
  const missing = [...operations.keys()].filter((id) => handlers[id] === undefined);
  if (missing.length > 0) throw new Error(`operations without a handler: ${missing.join(', ')}`);
  for (const [id, handler] of Object.entries(handlers)) {
    api.register(id, callHandler(handler, compiledOf, options));
  }
}

function lookUp(operations: CompiledOperations, { operation }: Context): CompiledOperation {
  const compiled = operations.get(operation.operationId ?? '');
  if (compiled === undefined) throw new Error('the library matched an operation that is not compiled');
  return compiled;
}

/** The request that dispatch created, as the library passes it on. */
function requestOf(context: Context): ApiRequest {
  return context.request as unknown as ApiRequest; // parseRequest gives back what it got
}

function refuseMethod(match: Matcher): Handler {
  return (context) => {
    const { method, path } = requestOf(context);
    const found = match(method, path);
    const allow = found.kind === 'wrong-method' ? found.allow.join(', ') : '';
    throw problem(
      'method_not_allowed',
      { method: method.toUpperCase(), allow },
      { headers: { Allow: allow } },
    );
  };
}

function admitAndRead(
  { gate, readBody }: StepOptions,
  compiledOf: (context: Context) => CompiledOperation,
): Handler {
  return async (context, exchange: Exchange) => {
    const { plan, readInput } = compiledOf(context);
    exchange.facts.operationId = plan.operationId;
    const { request, response } = exchange;
    exchange.facts.path = request.baseUrl + context.operation.path;
    if (plan.isPublic) {
      takeShareOf(undefined);
      await gate.admitPublic(request);
    } else {
      const caller = gate.known(request) ?? (await gate.identify(request));
      exchange.caller = caller;
      exchange.facts.keyId = caller.keyId;
      if (caller.companyId) exchange.facts.companyId = caller.companyId;
      takeShareOf(caller);
      await gate.admit(caller, response);
    }
    if (plan.body !== undefined) exchange.sentBody = await readBody(request, response);
    readInput(requestOf(context), exchange.sentBody);
  };
}

// Keys without a company and callers without a key share among themselves.
function takeShareOf(caller: Caller | undefined): void {
  const scope = currentScope();
  if (scope !== undefined)
    scope.tenant = caller?.companyId || (caller === undefined ? 'public' : 'no company');
}

function refuseInput(plan: OperationPlan, request: ApiRequest, errors: readonly ErrorObject[]): ProblemError {
  return request.isPathMalformed ? problem('path_malformed') : inputProblem(plan, request.faults, errors);
}

function callHandler(
  handler: AnyHandler,
  compiledOf: (context: Context) => CompiledOperation,
  { db, log, shares }: StepOptions,
): Handler {
  return async (context, exchange: Exchange) => {
    const { plan } = compiledOf(context);
    const input = toInput(plan, requestOf(context));
    await beginShare(shares, exchange, plan);
    // The validator and the gate have just checked what the document's types promise the handler.
    return handler(input as never, handlerContext(exchange, plan, { log, db }) as never);
  };
}

/** Nothing is waited for where there is room, which is nearly always. */
function beginShare(
  shares: AnswerShares,
  exchange: Exchange,
  plan: OperationPlan,
): Promise<void> | undefined {
  const scope = currentScope();
  if (scope?.tenant === undefined) return undefined;
  const begin = (end: EndShare) => {
    exchange.endShare = end;
    scope.onAway = endOf(end);
  };
  const share = shares.take(scope.tenant, plan.operationId, scope);
  return share instanceof Promise ? share.then(begin) : void begin(share);
}

// Closes over nothing else: with the exchange, which a scope outlives, each request outlived the young generation.
const endOf = (end: EndShare) => () => end(undefined);

/** The validated input under the names of the document, without read-only fields. */
function toInput(plan: OperationPlan, { params, query, headers, body }: ApiRequest) {
  return {
    path: params,
    query,
    header: namedHeaders(plan, headers),
    body: plan.body === undefined ? undefined : withoutReadOnly(body, plan.body.readOnlyFields),
  };
}

function namedHeaders({ parameters }: OperationPlan, headers: ApiRequest['headers']) {
  const named: Record<string, string> = {};
  for (const { in: place, name, key } of parameters) {
    const value = place === 'header' ? headers[key] : undefined;
    if (value !== undefined) named[name] = value;
  }
  return named;
}

function withoutReadOnly(body: unknown, readOnly: ReadonlySet<string>): unknown {
  if (readOnly.size === 0 || typeof body !== 'object' || body === null) return body;
  return Object.fromEntries(Object.entries(body).filter(([name]) => !readOnly.has(name)));
}
