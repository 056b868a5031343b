import { currentSpan } from '../tracing/in-span.ts';
import type { Span } from '../tracing/span.ts';

type Queried = { query(...words: unknown[]): unknown };
type Done = (error: Error | null, result?: unknown) => void;

/**
 * Makes each statement on a connection a span of the work that it belongs to, where that is traced. Of a statement its
 * text is told, never its values; what stands in the text between quotes is left out.
 */
export function traceStatements(connection: Queried): void {
  const query: Queried['query'] = connection.query.bind(connection);
  connection.query = (...words) => {
    const parent = currentSpan();
    const text = parent && textOf(words[0]);
    if (parent === undefined || text === undefined) return query(...words);
    return runTraced(query, words, parent.begin(describe(text)));
  };
}

/** Undefined for what is no statement of its own, such as the stream of a COPY. */
function textOf(statement: unknown): string | undefined {
  if (typeof statement === 'string') return statement;
  if (typeof statement !== 'object' || statement === null || 'submit' in statement) return undefined;
  return 'text' in statement && typeof statement.text === 'string' ? statement.text : undefined;
}

function describe(text: string) {
  const operation = /^[\s(]*([A-Za-z]+)/.exec(text)?.[1]?.toUpperCase() ?? 'statement';
  return {
    name: operation,
    kind: 'client' as const,
    facts: {
      'db.system.name': 'postgresql',
      'db.operation.name': operation,
      'db.query.text': text.replaceAll(/'(?:[^']|'')*'/g, '?').slice(0, 1_000),
    },
  };
}

/** The driver takes a function to call at the end, or else gives a promise. */
function runTraced(query: Queried['query'], words: unknown[], span: Span): unknown {
  const last = words.at(-1);
  if (typeof last !== 'function') {
    const result = query(...words);
    if (result instanceof Promise)
      void result.then(
        () => span.end(),
        (error: unknown) => span.end(error),
      );
    return result;
  }
  const done: Done = (error, result) => {
    span.end(error ?? undefined);
    last(error, result);
  };
  return query(...words.slice(0, -1), done);
}
