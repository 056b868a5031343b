import type { Span, Tracing } from '../../base/span.ts';
import type { BeginSpan, Exchange } from './exchange.ts';

/**
 * Creates what begins the span of a request; undefined without traces. A stranger must not decide whether a trace is
 * kept, nor write into the trace of somebody else. So the span may begin when it is known who sent the request. It ends
 * when the connection is done with the answer. It has neither the address nor any header. It has the operation, and the
 * caller by id.
 * @param arrivedAt when the request arrived, in milliseconds since 1970, where its span may begin later
 */
export function createBeginSpan(
  tracing: Tracing | undefined,
  exchange: Exchange,
  arrivedAt: number | undefined,
): BeginSpan | undefined {
  if (tracing === undefined) return undefined;
  let begun: Span | undefined;
  return (isTrusted) => {
    begun ??= beginSpan(tracing, exchange, { isTrusted, startedAt: arrivedAt });
    return begun;
  };
}

type Beginning = { readonly isTrusted: boolean; readonly startedAt: number | undefined };

function beginSpan(
  tracing: Tracing,
  { request, response, facts }: Exchange,
  { isTrusted, startedAt }: Beginning,
): Span {
  const { method } = request;
  const parent = request.headers['traceparent'];
  const span = tracing.begin(
    { name: method, kind: 'server', facts: { 'http.request.method': method }, startedAt },
    isTrusted && typeof parent === 'string' ? [parent] : [],
  );
  facts.traceId = span.traceId;
  response.once('close', () => {
    const { path, code, area, operationId, requestId, keyId, companyId } = facts;
    const status = response.headersSent ? response.statusCode : undefined;
    if (path !== undefined) span.rename(`${method} ${path}`);
    span.tell({
      'http.route': path,
      'http.response.status_code': status,
      'tallystick.problem': code,
      'tallystick.area': area,
      'tallystick.operation': operationId,
      'tallystick.request_id': requestId,
      'tallystick.key_id': keyId,
      'tallystick.company_id': companyId,
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
