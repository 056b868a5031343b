type Queried = { query(...words: unknown[]): unknown };

/** Called at the end of a statement, with its error if it failed. */
export type OnStatementEnd = (error: unknown) => void;

/**
 * Calls a function at the begin of each statement on a connection, and what it returns at the statement's end. A
 * stream, such as a COPY, has no text, and its end is not reported.
 */
export function hookStatements(
  connection: Queried,
  begin: (text: string | undefined) => OnStatementEnd,
): void {
  const query: Queried['query'] = connection.query.bind(connection);
  connection.query = (...words) => {
    const end = begin(textOf(words[0]));
    const last = words.at(-1);
    // pg calls a function at the end, or else returns a promise.
    if (typeof last === 'function') {
      return query(...words.slice(0, -1), (error: unknown, result: unknown) => {
        end(error ?? undefined);
        last(error, result);
      });
    }
    const result = query(...words);
    if (result instanceof Promise) void result.then(() => end(undefined), end);
    return result;
  };
}

function textOf(statement: unknown): string | undefined {
  if (typeof statement === 'string') return statement;
  if (typeof statement !== 'object' || statement === null || 'submit' in statement) return undefined;
  return 'text' in statement && typeof statement.text === 'string' ? statement.text : undefined;
}
