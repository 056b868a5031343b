/** How a language writes the values of JSON. */
type Dialect = {
  readonly null: string;
  readonly true: string;
  readonly false: string;
  readonly text: (text: string) => string;
  readonly key: (name: string) => string;
};

const singleQuoted = (text: string) =>
  `'${JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`;

export const javascript: Dialect = {
  null: 'null',
  true: 'true',
  false: 'false',
  text: singleQuoted,
  key: (name) => (/^\w+$/.test(name) ? name : singleQuoted(name)),
};

// Every JSON string is a Python string with the same meaning.
export const python: Dialect = {
  null: 'None',
  true: 'True',
  false: 'False',
  text: (text) => JSON.stringify(text),
  key: (name) => JSON.stringify(name),
};

/** A JSON value as source text, its lines after the first indented by `indent`. */
export function literal(value: unknown, dialect: Dialect, step: string, indent = ''): string {
  if (value === null || value === true || value === false) return dialect[`${value}`];
  if (typeof value === 'string') return dialect.text(value);
  if (typeof value !== 'object') return JSON.stringify(value);
  const inner = `${indent}${step}`;
  const parts = Array.isArray(value)
    ? value.map((item) => literal(item, dialect, step, inner))
    : Object.entries(value).map(
        ([name, item]) => `${dialect.key(name)}: ${literal(item, dialect, step, inner)}`,
      );
  const [open, close] = Array.isArray(value) ? '[]' : '{}';
  return parts.length === 0
    ? `${open}${close}`
    : `${open}\n${parts.map((part) => `${inner}${part},\n`).join('')}${indent}${close}`;
}
