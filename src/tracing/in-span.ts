import { currentScope, inScope } from '../base/request-scope.ts';
import type { Span, SpanOptions, Tracing } from '../base/span.ts';

/** The span of the present work, where that is recorded. */
export function currentSpan(): Span | undefined {
  const span = currentScope()?.span;
  return span?.isRecorded ? span : undefined;
}

/** What the present work is the cause of has this `traceparent`; nothing where there are no traces. */
export function currentCause(): readonly string[] {
  const span = currentScope()?.span;
  return span === undefined ? [] : [span.traceparent];
}

/** Runs a piece of the present work as a span of its own, if that is recorded. */
export async function inChildSpan<T>(
  describe: () => SpanOptions,
  work: (span: Span | undefined) => Promise<T>,
): Promise<T> {
  const parent = currentSpan();
  if (parent === undefined) return work(undefined);
  const span = parent.begin(describe());
  return endWith(span, () => work(span));
}

/** Ends a span with the outcome of the work. */
async function endWith<T>(span: Span, work: () => Promise<T>): Promise<T> {
  try {
    const result = await work();
    span.end();
    return result;
  } catch (error) {
    span.end(error);
    throw error;
  }
}

/** Runs work that no request asks for as a span, to which all its calls belong. Without traces it only runs the work. */
export async function inOwnSpan<T>(
  tracing: Tracing | undefined,
  options: SpanOptions,
  causes: readonly string[],
  work: (span: Span | undefined) => Promise<T>,
): Promise<T> {
  if (tracing === undefined) return work(undefined);
  const span = tracing.begin(options, causes);
  const { signal, isRead, facts } = currentScope() ?? { signal: new AbortController().signal, isRead: false };
  const scope = { signal, isRead, facts: { ...facts, traceId: span.traceId }, span };
  return endWith(span, () => inScope(scope, () => work(span)));
}
