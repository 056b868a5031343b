import type { Request, RequestHandler } from 'express';
import { type Request as BackendRequest, type Document, OpenAPIBackend, type Options } from 'openapi-backend';
import type { OpenApiDocument } from '../../contract/documents.ts';
import type { AnyReply } from '../../contract/operation.ts';
import type { Database } from '../../contract/transaction.ts';
import type { Logger } from '../../log.ts';
import { createApiRequest } from '../input/api-request.ts';
import type { BodyReader } from '../input/body.ts';
import { sendProblem, toProblem } from '../server/problem.ts';
import { sendReply } from '../server/reply.ts';
import { discardRest } from '../server/unread-body.ts';
import { compileOperations } from './compiled-operations.ts';
import { replaceRouter } from './compiled-router.ts';
import { type Exchange, openExchange } from './exchange.ts';
import type { Gate } from './gate.ts';
import { type AnyHandler, registerSteps } from './steps.ts';

export type DispatchOptions = {
  /** Names the document to operators. */
  readonly area: string;
  readonly document: OpenApiDocument;
  /** One for each operation of the document. */
  readonly handlers: Readonly<Record<string, AnyHandler>>;
  readonly gate: Gate;
  readonly readBody: BodyReader;
  readonly customizeAjv: NonNullable<Options['customizeAjv']>;
  readonly db: Database;
  readonly log: Logger;
};

/**
 * Serves one document: openapi-backend runs the order route, key, validation, handler; the steps between
 * them are ours. Mount it at the document's base path.
 * @throws Error when an operation has no handler, a handler no operation, or the document is not one that
 * dispatch enforces to the letter
 */
export async function createDispatch(options: DispatchOptions): Promise<RequestHandler> {
  const api = new OpenAPIBackend({
    definition: options.document as unknown as Document, // ours names fewer words of the same standard
    // The library's own check knows OpenAPI 3.0 only; documents are linted when they are bundled.
    quick: true,
    strict: true,
    ignoreTrailingSlashes: false,
    customizeAjv: options.customizeAjv,
  });
  await api.init();
  // Without it, an operation that says nothing of its own would be public.
  if (options.document.security === undefined) throw new Error('the document has no security');
  const operations = compileOperations(api.getOperations());
  const match = replaceRouter(api, operations);
  registerSteps(api, { ...options, operations, match });
  // Compiled here, the first request does not wait for them.
  for (const id of operations.keys()) api.validator.getRequestValidatorsForOperation(id);

  return (request, response) => {
    const exchange = openExchange(request, response);
    exchange.facts.area = options.area;
    // The library's type has texts where ours has validated values; it only hands the object on.
    const apiRequest = toApiRequest(request) as unknown as BackendRequest;
    const handled: Promise<AnyReply> = api.handleRequest(apiRequest, exchange);
    handled
      .then((reply) => answer(exchange, reply))
      .catch((error) => answerProblem(exchange, error, options.log));
  };
}

function toApiRequest(request: Request) {
  const { method, path, url, headers } = request;
  const mark = url.indexOf('?');
  return createApiRequest({
    method: method.toLowerCase(),
    path,
    rawQuery: mark === -1 ? '' : url.slice(mark + 1),
    rawHeaders: headers,
    timesSent: (header) => request.headersDistinct[header]?.length ?? 0,
  });
}

function answer({ request, response }: Exchange, reply: AnyReply): void {
  sendReply(response, reply);
  discardRest(request);
}

/** Answers with the problem that an error is; what is our fault is logged with its cause. */
export function answerProblem({ request, response, facts }: Exchange, error: unknown, log: Logger): void {
  const found = toProblem(error);
  facts.code = found.code;
  if (found.status >= 500) {
    log.error({ ...facts, err: found }, 'request failed');
  }
  sendProblem(response, found, facts.requestId);
  discardRest(request);
}
