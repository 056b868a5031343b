import type { Span, Tracing } from '../../tracing/span.ts';
import type { Exchange } from './exchange.ts';

/**
 * Begins the span of a request, which goes on with the trace that its caller names. It ends when the connection is done
 * with the answer. Neither the address nor any header is in it: the operation, and who called, by id.
 */
export function openRequestSpan(
  tracing: Tracing | undefined,
  { request, response, facts }: Exchange,
): Span | undefined {
  if (tracing === undefined) return undefined;
  const { method } = request;
  const parent = request.headers['traceparent'];
  const span = tracing.begin(
    { name: method, kind: 'server', facts: { 'http.request.method': method } },
    typeof parent === 'string' ? [parent] : [],
  );
  facts.traceId = span.traceId;
  response.once('close', () => {
    const { path, code, area, operationId, requestId, keyId, companyId } = facts;
    const status = response.headersSent ? response.statusCode : undefined;
    if (path !== undefined) span.rename(`${method} ${path}`);
    span.tell({
      ...{ 'http.route': path, 'http.response.status_code': status, 'tallystick.problem': code },
      ...{ 'tallystick.area': area, 'tallystick.operation': operationId, 'tallystick.request_id': requestId },
      ...{ 'tallystick.key_id': keyId, 'tallystick.company_id': companyId },
    });
    const isFailed = status === undefined || status >= 500;
    span.end(isFailed ? new RequestFailure(code ?? String(status ?? 'aborted')) : undefined);
  });
  return span;
}

/** Names to the span why its request failed. */
class RequestFailure extends Error {
  readonly code: string;

  constructor(code: string) {
    super(code);
    this.code = code;
  }
}
