import { escapeRegExp } from '../input/path-template.ts';

/** The part of an operation that matching needs. `path` is a template such as `/event/{eventId}`. */
export type Routed = { readonly method: string; readonly path: string };

export type Match<Op> =
  | { readonly kind: 'found'; readonly operation: Op }
  | { readonly kind: 'wrong-method'; readonly allow: readonly string[] }
  | { readonly kind: 'none' };

type Ranked<Op> = { readonly rank: number; readonly operation: Op };

type Node<Op> = {
  readonly literals: Map<string, Node<Op>>;
  /** Segments that contain a template. A template matches any text that is not empty. */
  readonly templates: { readonly source: string; readonly test: RegExp; readonly node: Node<Op> }[];
  readonly operations: Ranked<Op>[];
};

const methodOrder = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace'];

/**
 * Compiles the paths of a document into a tree of segments, once. The cost of a match depends on the depth of the
 * path, not on the number of operations; the library's own router compiles a regular expression per operation and
 * request.
 *
 * The result is the library's with `ignoreTrailingSlashes: false`: a path that equals a template literally comes first,
 * then the template with the most literal characters that has the method. There is one difference, which follows the
 * OpenAPI standard: a path without templates is never matched by a template, not even for methods that it lacks.
 * @returns a function of a lower-case method and a path without query
 */
export function compileMatcher<Op extends Routed>(operations: readonly Op[]) {
  const exact = new Map<string, Op>();
  for (const operation of operations) exact.set(`${operation.method} ${operation.path}`, operation);
  const concrete = new Set(operations.map(({ path }) => path).filter((path) => !path.includes('{')));
  const root = compileTree(operations);

  return (method: string, path: string): Match<Op> => {
    const same = exact.get(`${method} ${path}`);
    if (same !== undefined) return { kind: 'found', operation: same };
    if (concrete.has(path)) return { kind: 'wrong-method', allow: methodsOf(operations, path) };
    const candidates: Ranked<Op>[] = [];
    collect(root, path.split('/'), 1, candidates);
    if (candidates.length === 0) return { kind: 'none' };
    const found = candidates.reduce<Ranked<Op> | undefined>(
      (best, next) =>
        next.operation.method === method && (best === undefined || next.rank < best.rank) ? next : best,
      undefined,
    );
    return found === undefined
      ? { kind: 'wrong-method', allow: allowed(candidates.map(({ operation }) => operation)) }
      : { kind: 'found', operation: found.operation };
  };
}

function compileTree<Op extends Routed>(operations: readonly Op[]): Node<Op> {
  const root: Node<Op> = newNode();
  // Array.prototype.sort is stable, as the library's ordering is.
  const ranked = [...operations].sort((a, b) => literalLength(b.path) - literalLength(a.path));
  for (const [rank, operation] of ranked.entries()) {
    let node = root;
    for (const segment of operation.path.split('/').slice(1)) node = child(node, segment);
    node.operations.push({ rank, operation });
  }
  return root;
}

function child<Op>(node: Node<Op>, segment: string): Node<Op> {
  if (!/\{[^}]+\}/.test(segment)) {
    const known = node.literals.get(segment);
    if (known !== undefined) return known;
    const made: Node<Op> = newNode();
    node.literals.set(segment, made);
    return made;
  }
  const source = `^${segment
    .split(/\{[^}]+\}/)
    .map(escapeRegExp)
    .join('[^/]+')}$`;
  const known = node.templates.find((template) => template.source === source);
  if (known !== undefined) return known.node;
  const made: Node<Op> = newNode();
  node.templates.push({ source, test: new RegExp(source), node: made });
  return made;
}

function collect<Op>(node: Node<Op>, segments: readonly string[], at: number, into: Ranked<Op>[]): void {
  const segment = segments[at];
  if (segment === undefined) {
    into.push(...node.operations);
    return;
  }
  const literal = node.literals.get(segment);
  if (literal !== undefined) collect(literal, segments, at + 1, into);
  for (const template of node.templates) {
    if (template.test.test(segment)) collect(template.node, segments, at + 1, into);
  }
}

function methodsOf<Op extends Routed>(operations: readonly Op[], path: string): string[] {
  return allowed(operations.filter((operation) => operation.path === path));
}

function allowed<Op extends Routed>(operations: readonly Op[]): string[] {
  const methods = new Set(operations.map(({ method }) => method));
  return methodOrder.filter((method) => methods.has(method)).map((method) => method.toUpperCase());
}

function newNode<Op>(): Node<Op> {
  return { literals: new Map(), templates: [], operations: [] };
}

function literalLength(path: string): number {
  return path.replace(/\{.*?\}/g, '').length;
}
