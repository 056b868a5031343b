import type { Span } from '../../base/span.ts';
import { currentSpan } from '../../tracing/in-span.ts';

/**
 * Begins a span for a statement of work that is traced. The span has the text of the statement without what stands
 * between quotes, and never its values.
 */
export function beginStatementSpan(text: string): Span | undefined {
  const operation = /^[\s(]*([A-Za-z]+)/.exec(text)?.[1]?.toUpperCase() ?? 'statement';
  return currentSpan()?.begin({
    name: operation,
    kind: 'client',
    facts: {
      'db.system.name': 'postgresql',
      'db.operation.name': operation,
      'db.query.text': text.replaceAll(/'(?:[^']|'')*'/g, '?').slice(0, 1_000),
    },
  });
}
