import { isDeepStrictEqual } from 'node:util';
import type { Change, Scope } from './change.ts';
import { tell } from './change.ts';
import { compareOperations } from './compare-operation.ts';
import type { Comparison, Operation } from './component.ts';
import { compareKeys, isObject, type JsonObject, objectAt, objectsAt, textAt } from './json.ts';

const methods = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace'];

/**
 * Every difference between two bundled OpenAPI 3.1 documents, in the order of the older one. Differences
 * within a component are reported once, under the component's name.
 * @throws Error when a reference leads nowhere
 */
export function compareDocuments(before: JsonObject, after: JsonObject): Change[] {
  const changes: Change[] = [];
  const comparison: Comparison = { before, after, seen: new Set() };
  const report = (change: Change) => void changes.push(change);
  const whole: Scope = { subject: 'document', at: '', report };
  compareServers(before, after, whole);
  compareSchemes(before, after, whole);
  for (const word of ['info', 'tags', 'externalDocs', 'x-tagGroups'])
    if (!isDeepStrictEqual(before[word], after[word])) tell(whole, 'text-changed', `${word} differs`);
  const old = operationsOf(before);
  const now = operationsOf(after);
  const paths = new Set([...now.values()].map(({ path }) => shapeOf(path)));
  for (const [key, operation] of old) {
    const scope = { subject: subjectOf(key, operation), at: '', report };
    const other = now.get(key);
    if (other !== undefined) compareOperations(comparison, operation, other, scope);
    else tell(scope, paths.has(shapeOf(operation.path)) ? 'operation-removed' : 'path-removed', 'is gone');
  }
  const oldPaths = new Set([...old.values()].map(({ path }) => shapeOf(path)));
  for (const [key, operation] of now) {
    if (old.has(key)) continue;
    const scope = { subject: subjectOf(key, operation), at: '', report };
    tell(scope, oldPaths.has(shapeOf(operation.path)) ? 'operation-added' : 'path-added', 'is new');
  }
  return changes;
}

/** A path whatever its parameters are called. */
function shapeOf(path: string): string {
  return path.replaceAll(/\{[^}]*\}/g, '{}');
}

function subjectOf(key: string, { path }: Operation): string {
  return `${key.split(' ')[0]} ${path}`;
}

function operationsOf(document: JsonObject): Map<string, Operation> {
  const found = new Map<string, Operation>();
  for (const [path, item] of Object.entries(objectAt(document, 'paths'))) {
    if (!isObject(item)) continue;
    for (const method of methods) {
      const operation = item[method];
      if (isObject(operation))
        found.set(`${method.toUpperCase()} ${shapeOf(path)}`, { path, item, operation });
    }
  }
  return found;
}

function compareServers(before: JsonObject, after: JsonObject, scope: Scope): void {
  const urls = (document: JsonObject) =>
    objectsAt(document, 'servers').map((server) => textAt(server, 'url'));
  const old = urls(before);
  const now = urls(after);
  for (const url of old.filter((one) => !now.includes(one))) tell(scope, 'server-removed', `${url} is gone`);
  for (const url of now.filter((one) => !old.includes(one))) tell(scope, 'server-added', `${url} is new`);
}

function compareSchemes(before: JsonObject, after: JsonObject, scope: Scope): void {
  const schemes = (document: JsonObject) => objectAt(objectAt(document, 'components'), 'securitySchemes');
  const old = schemes(before);
  const now = schemes(after);
  for (const name of compareKeys(old, now).kept) {
    const was = objectAt(old, name);
    const is = objectAt(now, name);
    const words = ['type', 'in', 'name', 'scheme', 'flows', 'openIdConnectUrl'];
    const place = { ...scope, subject: `securitySchemes/${name}` };
    if (words.some((word) => !isDeepStrictEqual(was[word], is[word])))
      tell(place, 'security-scheme-changed', 'the key is sent in another way');
    if (was.description !== is.description) tell(place, 'text-changed', 'description differs');
  }
}
