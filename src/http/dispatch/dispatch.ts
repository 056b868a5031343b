import type { Request, RequestHandler } from 'express';
import { type Document, OpenAPIBackend, type Options } from 'openapi-backend';
import { ProblemError } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import { CallerGoneError, currentScope, inScope } from '../../base/request-scope.ts';
import type { Tracing } from '../../base/span.ts';
import type { OpenApiDocument } from '../../contract/documents.ts';
import type { AnyReply } from '../../contract/operation.ts';
import { tenantOf } from '../../contract/tenant.ts';
import type { Database } from '../../contract/transaction.ts';
import { createApiRequest } from '../input/api-request.ts';
import type { BodyReader } from '../input/body.ts';
import type { RequestAdmission } from '../server/admission.ts';
import type { AnswerMemory } from '../server/answer-memory.ts';
import { sendProblem, toProblem } from '../server/problem.ts';
import { sendReply } from '../server/reply.ts';
import { afterDelay, type Pace, type StrangerPace } from '../server/stranger-pace.ts';
import { discardRest } from '../server/unread-body.ts';
import { admitLarge } from './admitted-work.ts';
import { openScope } from './caller-scope.ts';
import { compileLater, compileOperations } from './compiled-operations.ts';
import { type Exchange, openExchange } from './exchange.ts';
import type { Gate } from './gate.ts';
import { createBeginSpan } from './request-span.ts';
import { type AnyHandler, createSteps } from './steps.ts';

export type DispatchOptions = {
  /** The name of the document in logs and metrics. */
  readonly area: string;
  readonly document: OpenApiDocument;
  /** One for each operation of the document. */
  readonly handlers: Readonly<Record<string, AnyHandler>>;
  readonly gate: Gate;
  readonly readBody: BodyReader;
  readonly customizeAjv: NonNullable<Options['customizeAjv']>;
  readonly memory: AnswerMemory;
  readonly admission: RequestAdmission;
  /** The pace of requests without a known key. */
  readonly strangers: StrangerPace;
  /** Of rejections of a company for its rate or for the load. */
  readonly refusals: Pace;
  /** Time for an answer to be made, in milliseconds. */
  readonly deadlineMs?: number | undefined;
  readonly db: Database;
  readonly log: Logger;
  /** Whether the connection of a request comes from a trusted proxy. */
  readonly isFromProxy: (request: Request) => boolean;
  /** Undefined without traces. */
  readonly tracing?: Tracing | undefined;
};

// Longer than any single wait for a connection, a lock, a node and the hosted provider.
const defaultDeadlineMs = 15_000;

/**
 * Creates the request handler of one document, to be mounted at the document's base path. openapi-backend resolves the
 * document and compiles its validators; the steps of a request are ours.
 * @throws Error when an operation has no handler, a handler has no operation, or the document uses something that
 * dispatch does not enforce exactly
 */
export async function createDispatch(options: DispatchOptions): Promise<RequestHandler> {
  const { deadlineMs = defaultDeadlineMs } = options;
  const api = await backendOf(options);
  // Without a default, an operation without its own security would be public.
  if (options.document.security === undefined) throw new Error('the document has no security');
  const run = createSteps({ ...options, operations: compileOperations(api) });
  compileLater(api, options.log);

  return (request, response) => {
    const exchange = openExchange(request, response);
    exchange.facts.area = options.area;
    // Else the key decides whether the trace that the request names counts.
    const isDecided = request.headers['traceparent'] === undefined || options.isFromProxy(request);
    exchange.beginSpan = createBeginSpan(options.tracing, exchange, isDecided ? undefined : Date.now());
    const span = isDecided ? exchange.beginSpan?.(true) : undefined;
    const apiRequest = toApiRequest(request);
    const answered = { isOver: false };
    const refuse = (error: unknown) => {
      if (answered.isOver) return;
      answered.isOver = true;
      exchange.beginSpan?.(false);
      refuseInTurn(exchange, error, options);
    };
    const scope = openScope(exchange, { deadlineMs, onEnd: refuse, span });
    const reply = async (): Promise<void> => {
      try {
        const made = await run(apiRequest, exchange);
        if (answered.isOver) return;
        scope.settle();
        const sent = answer(exchange, made, options);
        // The rest of the answer goes at the pace of the caller.
        exchange.release?.();
        if (sent !== undefined) await sent;
        answered.isOver = true;
      } catch (error) {
        refuse(error);
      } finally {
        // Work that nobody waits for any more has its place until it ends.
        exchange.release?.();
      }
    };
    inScope(scope, reply);
  };
}

// A document does not change: apps of one process, as tests start them, share what is compiled of it.
const backends = new WeakMap<OpenApiDocument, Promise<OpenAPIBackend>>();

function backendOf({ document, customizeAjv }: DispatchOptions): Promise<OpenAPIBackend> {
  const known = backends.get(document);
  if (known !== undefined) return known;
  const api = new OpenAPIBackend({
    definition: document as unknown as Document, // ours names fewer words of the same standard
    // The library's own check supports OpenAPI 3.0 only; documents are linted when they are bundled.
    quick: true,
    strict: true,
    ignoreTrailingSlashes: false,
    customizeAjv,
  });
  const begun = api.init();
  backends.set(document, begun);
  return begun;
}

function toApiRequest(request: Request) {
  const { method, url, headers } = request;
  const mark = url.indexOf('?');
  // Express would parse the whole of it for its path.
  const hasFragment = url.includes('#');
  return createApiRequest({
    method: method.toLowerCase(),
    path: hasFragment ? request.path : mark === -1 ? url : url.slice(0, mark),
    rawQuery: mark === -1 ? '' : url.slice(mark + 1),
    rawHeaders: headers,
    timesSent: (header) => request.headersDistinct[header]?.length ?? 0,
  });
}

function answer(
  exchange: Exchange,
  reply: AnyReply,
  { memory, admission, gate }: DispatchOptions,
): Promise<void> | undefined {
  const { request, response, caller, requiredScopes = null } = exchange;
  const tenant = currentScope()?.tenant ?? '';
  const beforeStream = () => admitLarge(admission, exchange);
  // A caller who reads slowly would else read on with a key that was revoked meanwhile.
  const beforePiece = () => caller && gate.admitAgain(request, caller, requiredScopes);
  const sent = sendReply(response, reply, { memory, tenant, beforeStream, beforePiece });
  discardRest(request);
  return sent;
}

const isForLoad = (error: unknown) =>
  error instanceof ProblemError && (error.code === 'rate_limited' || error.code === 'overloaded');

/** Answers with a problem. A company that asks on without heed is rejected at a pace, so that they cost others nothing. */
function refuseInTurn(exchange: Exchange, error: unknown, { refusals, log }: DispatchOptions): void {
  const { caller, request, response } = exchange;
  const delayMs = caller !== undefined && isForLoad(error) ? refusals(tenantOf(caller)) : 0;
  if (delayMs === 0) {
    answerProblem(exchange, error, log);
    return;
  }
  // Else what has come of it is kept as long.
  discardRest(request);
  afterDelay(delayMs, response).then(
    () => answerProblem(exchange, error, log),
    () => {},
  );
}

const reasonOf = ({ cause, message }: Error): string => (cause instanceof Error ? cause.message : message);

/** Sends the problem that an error converts to. Errors of the service (5xx) are logged with their cause. */
export function answerProblem({ request, response, facts }: Exchange, error: unknown, log: Logger): void {
  // No caller is there to get an answer.
  if (error instanceof CallerGoneError) return;
  const found = toProblem(error);
  facts.code = found.code;
  if (found.code === 'service_unavailable') {
    // In an outage there are hundreds of these errors a second, and the outage has its own line. So they have no
    // stacks.
    log.warn({ ...facts, reason: reasonOf(found) }, 'request rejected');
  } else if (found.status >= 500 && found.code !== 'overloaded') {
    // A request that is rejected because of load has its request line. Another line would cost as much as an answer.
    log.error({ ...facts, err: found }, 'request failed');
  }
  sendProblem(response, found, facts.requestId);
  discardRest(request);
}
