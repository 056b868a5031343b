/** Compiles a path template into a reader of its values, which stay percent-encoded as in the path. */
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

/** Escapes a text so that a regular expression matches it literally. */
export function escapeRegExp(literal: string): string {
  return literal.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
