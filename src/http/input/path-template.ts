/**
 * Compiles a path template into a reader of its values, as they stand in the path: still percent-encoded.
 */
export function compilePathReader(template: string): (path: string) => ReadonlyMap<string, string> {
  const names = [...template.matchAll(/\{([^}]+)\}/g)].map(([, name = '']) => name);
  const source = template
    .split(/\{[^}]+\}/)
    .map(escapeRegExp)
    .join('([^/]+)');
  const pattern = new RegExp(`^${source}$`);
  return (path) => {
    const found = pattern.exec(path);
    return new Map(names.map((name, index) => [name, found?.[index + 1] ?? '']));
  };
}

/** A regular expression that matches the text itself. */
export function escapeRegExp(literal: string): string {
  return literal.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
