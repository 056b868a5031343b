import { inside, type Scope, tell } from './change.ts';
import { isObject, type Json, type JsonObject } from './json.ts';

/** Two documents being compared, and the pairs of components that were compared already. */
export type Comparison = {
  readonly before: JsonObject;
  readonly after: JsonObject;
  readonly seen: Set<string>;
};

/** An operation with the path item that it stands in, whose parameters are its own as well. */
export type Operation = { readonly path: string; readonly item: JsonObject; readonly operation: JsonObject };

type Pair = { readonly before: JsonObject; readonly after: JsonObject; readonly scope: Scope };

/**
 * Both sides behind their references. A component that both refer to is a subject of its own and is
 * compared once for all who use it: undefined when that was done before, which also ends cycles.
 * @param role what else distinguishes comparisons of the same two components, such as the direction
 */
export function resolvePair(
  comparison: Comparison,
  sides: { readonly before: Json | undefined; readonly after: Json | undefined },
  scope: Scope,
  role: string,
): Pair | undefined {
  const before = follow(comparison.before, sides.before);
  const after = follow(comparison.after, sides.after);
  const { value: old } = before;
  const { value: now } = after;
  if (before.name === undefined || after.name === undefined) {
    if (before.name === undefined && after.name === undefined) return { before: old, after: now, scope };
    // Nothing is left on the one side when the other goes round in a circle.
    const round = `${before.name ?? JSON.stringify(old)} ${after.name ?? JSON.stringify(now)} ${role}`;
    return isFirst(comparison, `${scope.subject} ${round}`) ? { before: old, after: now, scope } : undefined;
  }
  if (before.name !== after.name) {
    tell(scope, 'component-renamed', `is ${after.name} instead of ${before.name}`);
  }
  if (!isFirst(comparison, `${before.name} ${after.name} ${role}`)) return undefined;
  const named = { ...scope, subject: before.name, at: '' };
  return { before: old, after: now, scope: inside(named, role === '' ? '' : `(${role}) `) };
}

function isFirst({ seen }: Comparison, key: string): boolean {
  const { size } = seen;
  return seen.add(key).size > size;
}

/** The value itself, or the component that it refers to with its name, such as `schemas/Event`. */
export function follow(
  document: JsonObject,
  value: Json | undefined,
): { value: JsonObject; name: string | undefined } {
  if (!isObject(value)) return { value: {}, name: undefined };
  const reference = value.$ref;
  if (typeof reference !== 'string') return { value, name: undefined };
  const path = reference.replace(/^#\//, '').split('/');
  const found = path.reduce<Json | undefined>(
    (node, step) => (isObject(node) ? node[step.replaceAll('~1', '/').replaceAll('~0', '~')] : undefined),
    document,
  );
  if (!isObject(found)) throw new Error(`The document has nothing at ${reference}.`);
  const name = path.slice(1).join('/');
  // A component that is nothing but a reference stands for what it refers to.
  return typeof found.$ref === 'string' ? follow(document, found) : { value: found, name };
}
