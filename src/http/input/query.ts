/** A parsed query string. Names and values are decoded; the first value of a repeated name is kept. */
export type ParsedQuery = {
  readonly values: ReadonlyMap<string, string>;
  /** Names that were given more than once. */
  readonly repeated: ReadonlySet<string>;
  /** Names, as sent, of parameters with an invalid percent-encoding. */
  readonly malformed: readonly string[];
};

const noName: ReadonlySet<string> = new Set();
const none: ParsedQuery = { values: new Map(), repeated: noName, malformed: [] };

/**
 * Parses a query string such as `a=1&b=2`. It is stricter than URLSearchParams, which keeps a malformed
 * percent-encoding and replaces invalid UTF-8.
 */
export function parseQuery(text: string): ParsedQuery {
  if (text === '') return none;
  const values = new Map<string, string>();
  let repeated: Set<string> | undefined;
  const malformed: string[] = [];
  for (const piece of text.split('&')) {
    if (piece === '') continue;
    const equals = piece.indexOf('=');
    const rawName = equals === -1 ? piece : piece.slice(0, equals);
    const name = decode(rawName);
    const value = decode(equals === -1 ? '' : piece.slice(equals + 1));
    if (name === undefined || value === undefined) malformed.push(name ?? rawName);
    else if (values.has(name)) repeated = (repeated ?? new Set()).add(name);
    else values.set(name, value);
  }
  return { values, repeated: repeated ?? noName, malformed };
}

const encoded = /[%+]/;

function decode(text: string): string | undefined {
  if (!encoded.test(text)) return text;
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return undefined;
  }
}
