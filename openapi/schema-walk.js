export const combinators = ['allOf', 'anyOf', 'oneOf'];

/** The context of a child node. */
export const at = (context, name) => ({ ...context, location: context.location.child([name]) });

/** Whether a node is of a webhook: its requests are sent by the service, to receivers that reject nothing of them. */
export const isWebhook = (location) => location.source.absoluteRef.includes('/webhooks/');

/**
 * Calls `visit` on a schema and on every schema below it, references followed, each once. Redocly's own
 * nested visitors stop at the first level.
 */
export function walk(node, { location, resolve }, visit, seen = new Set()) {
  if (isWebhook(location)) return;
  const target = node?.$ref === undefined ? { node, location } : resolve(node, location.source.absoluteRef);
  const schema = target.node;
  if (schema === null || typeof schema !== 'object' || seen.has(schema)) return;
  seen.add(schema);
  visit(schema, target.location);
  const below = (child, ...path) =>
    walk(child, { location: target.location.child(path), resolve }, visit, seen);
  if (schema.items) below(schema.items, 'items');
  for (const [name, property] of Object.entries(schema.properties ?? {})) below(property, 'properties', name);
  for (const word of combinators) {
    for (const [index, part] of (schema[word] ?? []).entries()) below(part, word, index);
  }
}
