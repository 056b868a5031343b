import type { ErrorObject } from 'ajv/dist/2020.js';
import { type ProblemError, problem } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import { currentScope } from '../../base/request-scope.ts';
import type { AnyReply, Caller } from '../../contract/operation.ts';
import type { Scope } from '../../contract/scopes.ts';
import { notOfCompany, tenantOf } from '../../contract/tenant.ts';
import type { Database } from '../../contract/transaction.ts';
import type { ApiRequest } from '../input/api-request.ts';
import type { BodyReader } from '../input/body.ts';
import { inputProblem } from '../input/input-problem.ts';
import type { RequestAdmission } from '../server/admission.ts';
import { operationCost, type StrangerPace } from '../server/stranger-pace.ts';
import { admitLarge, admitWork } from './admitted-work.ts';
import { type CompiledOperation, compileRouter } from './compiled-operations.ts';
import { type Exchange, openContext } from './exchange.ts';
import type { Gate } from './gate.ts';
import { closeToPages } from './open-to-pages.ts';
import type { OperationPlan } from './operation-plan.ts';

/** A handler of any operation. Its exact types are checked where it is created, by the area's `Handlers` type. */
export type AnyHandler = (input: never, context: never) => Promise<AnyReply>;

type StepOptions = {
  readonly operations: readonly CompiledOperation[];
  /** By operationId. */
  readonly handlers: Readonly<Record<string, AnyHandler>>;
  readonly gate: Gate;
  readonly readBody: BodyReader;
  readonly admission: RequestAdmission;
  readonly strangers: StrangerPace;
  readonly db: Database;
  readonly log: Logger;
};

/** Runs the steps of one request. @throws ProblemError of the first step that rejects it */
export type RequestSteps = (request: ApiRequest, exchange: Exchange) => Promise<AnyReply>;

/**
 * Creates the steps from a request to its handler: route, key, input, handler.
 * @throws Error when an operation has no handler, or a handler no operation
 */
export function createSteps(options: StepOptions): RequestSteps {
  const match = compileRouter(withHandlers(options));
  return async (request, exchange) => {
    const { method, path } = request;
    const found = match(method, path);
    const isPublic = found.kind === 'found' && found.operation.plan.isPublic;
    const isKeyed = found.kind === 'found' && !isPublic;
    const known = isKeyed ? options.gate.known(exchange.request) : undefined;
    if (known === undefined && !(isKeyed && options.gate.isFamiliar(exchange.request))) {
      await options.strangers.pass(exchange.request, exchange.response, isPublic ? operationCost : 1);
    }
    if (found.kind === 'none') throw problem('not_found');
    if (found.kind === 'wrong-method') throw methodProblem(method, found.allow);
    const { operation } = found;
    const { plan } = operation;
    const admitted = admit(options, operation, exchange, known);
    if (admitted !== undefined) await admitted;
    if (plan.body !== undefined)
      exchange.sentBody = await options.readBody(exchange.request, exchange.response);
    const isRead = operation.readInput(request, exchange.sentBody);
    const errors = isRead ? operation.findErrors(request) : [];
    if (errors.length > 0 || request.faults.length > 0 || request.isPathMalformed) {
      throw refuseInput(plan, request, errors);
    }
    if (isOfOtherEvent(plan, exchange.caller, request)) throw problem('event_not_found');
    // In this order, so that requests that wait for a large response take no place of others.
    if (isLarge(plan, request)) await admitLarge(options.admission, exchange);
    const working = admitWork(options.admission, exchange);
    if (working !== undefined) await working;
    // The validator and the gate have just checked what the document's types promise the handler.
    const reply = operation.handler(
      toInput(plan, request) as never,
      openContext(exchange, plan, options) as never,
    );
    const { caller } = exchange;
    if (plan.hideFields === undefined || caller === undefined) return reply;
    return plan.hideFields(await reply, caller);
  };
}

function withHandlers({ operations, handlers }: StepOptions) {
  const missing = operations.map(({ plan }) => plan.operationId).filter((id) => handlers[id] === undefined);
  if (missing.length > 0) throw new Error(`operations without a handler: ${missing.join(', ')}`);
  const left = new Set(Object.keys(handlers));
  const bound = operations.map((operation) => {
    const { operationId } = operation.plan;
    left.delete(operationId);
    return { ...operation, handler: handlers[operationId] as AnyHandler }; // none is missing
  });
  if (left.size > 0) throw new Error(`handlers without an operation: ${[...left].join(', ')}`);
  return bound;
}

function methodProblem(method: string, allowed: readonly string[]): ProblemError {
  const allow = allowed.join(', ');
  return problem(
    'method_not_allowed',
    { method: method.toUpperCase(), allow },
    { headers: { Allow: allow } },
  );
}

// Callers without a key are one company: an address costs nothing, so a share for each address would leave companies
// none.
const publicTenant = notOfCompany('public');

function takeShareOf(tenant: string): void {
  const scope = currentScope();
  if (scope !== undefined) scope.tenant = tenant;
}

/** Begins the span of the request where the span waited for the caller's identity. */
function beginSpan(exchange: Exchange, isTrusted: boolean): void {
  const scope = currentScope();
  if (scope !== undefined) scope.span ??= exchange.beginSpan?.(isTrusted);
}

/** Checks who asks, and whether it may. Nothing is waited for of a key that was seen moments ago and has no limit. */
function admit(
  { gate }: StepOptions,
  { plan, path }: CompiledOperation,
  exchange: Exchange,
  known: Caller | undefined,
): Promise<void> | undefined {
  const { request, facts } = exchange;
  facts.operationId = plan.operationId;
  facts.path = request.baseUrl + path;
  if (plan.isPublic) {
    takeShareOf(publicTenant);
    beginSpan(exchange, false);
    return void gate.admitPublic(request);
  }
  const admitAs = (caller: Caller) => admitCaller(gate, caller, plan.requiredScopes, exchange);
  return known === undefined ? gate.identify(request).then(admitAs) : admitAs(known);
}

function admitCaller(
  gate: Gate,
  caller: Caller,
  scopes: readonly Scope[] | null,
  exchange: Exchange,
): Promise<void> | undefined {
  const { request, response, facts } = exchange;
  exchange.caller = caller;
  exchange.requiredScopes = scopes;
  closeToPages(request, response, caller);
  facts.keyId = caller.keyId;
  if (caller.companyId) facts.companyId = caller.companyId;
  takeShareOf(tenantOf(caller));
  beginSpan(exchange, true);
  return gate.admit(caller, scopes, response);
}

/** Whether a key that is for one event asks for another event. Such an event does not exist for it. Any key may read its own rights. */
const isOfOtherEvent = (
  { requiredScopes }: OperationPlan,
  caller: Caller | undefined,
  { params }: ApiRequest,
): boolean =>
  caller !== undefined &&
  caller.eventId !== null &&
  requiredScopes !== null &&
  String(params['eventId']).toLowerCase() !== caller.eventId;

function refuseInput(plan: OperationPlan, request: ApiRequest, errors: readonly ErrorObject[]): ProblemError {
  return request.isPathMalformed ? problem('path_malformed') : inputProblem(plan, request.faults, errors);
}

// A page of a hundred items takes some milliseconds of the process and of the database.
const largeLimit = 100;

/** Returns whether the request is for a whole list, or for so much that the response is large, or reads as much for a small one. */
const isLarge = ({ isList, readsAll }: OperationPlan, { query }: ApiRequest): boolean =>
  readsAll || (isList && !(Number(query['limit']) < largeLimit));

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
