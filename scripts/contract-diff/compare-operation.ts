import { isDeepStrictEqual } from 'node:util';
import { inside, type Scope, tell } from './change.ts';
import { compareParameters } from './compare-parameters.ts';
import { compareResponses } from './compare-responses.ts';
import { compareSchemas } from './compare-schema.ts';
import { type Comparison, type Operation, resolvePair } from './component.ts';
import { compareKeys, isObject, type JsonObject, objectAt, objectsAt, quote, textAt } from './json.ts';

/** Compares two forms of one operation: name, key, parameters, body and answers. */
export function compareOperations(
  comparison: Comparison,
  before: Operation,
  after: Operation,
  scope: Scope,
): void {
  const old = before.operation;
  const now = after.operation;
  if (old.operationId !== now.operationId)
    tell(
      scope,
      'operation-id-changed',
      `is ${textAt(now, 'operationId')} instead of ${textAt(old, 'operationId')}`,
    );
  if (!isDeepStrictEqual(old.tags, now.tags))
    tell(scope, 'tag-changed', `is ${quote(now.tags)} instead of ${quote(old.tags)}`);
  if (old.deprecated !== true && now.deprecated === true)
    tell(scope, 'operation-deprecated', 'is deprecated');
  for (const word of ['summary', 'description', 'externalDocs', 'x-codeSamples'])
    if (!isDeepStrictEqual(old[word], now[word])) tell(scope, 'text-changed', `${word} differs`);
  compareSecurity(comparison, old, now, scope);
  compareParameters(comparison, before, after, scope);
  compareBodies(comparison, old, now, scope);
  compareResponses(comparison, objectAt(old, 'responses'), objectAt(now, 'responses'), scope);
}

/** The sets of schemes that open an operation, any one of which is enough. */
function securityOf(document: JsonObject, operation: JsonObject): readonly string[][] {
  const listed = objectsAt(Array.isArray(operation.security) ? operation : document, 'security');
  return listed.length === 0 ? [[]] : listed.map((one) => Object.keys(one));
}

function compareSecurity(comparison: Comparison, before: JsonObject, after: JsonObject, scope: Scope): void {
  const old = securityOf(comparison.before, before);
  const now = securityOf(comparison.after, after);
  const isOpenedBy = (ways: readonly string[][], has: readonly string[]) =>
    ways.some((way) => way.every((name) => has.includes(name)));
  const lost = old.filter((has) => !isOpenedBy(now, has));
  const won = now.filter((has) => !isOpenedBy(old, has));
  const name = (ways: readonly string[][]) => ways.map((way) => way.join(' and ') || 'no key').join(', ');
  if (lost.length > 0) tell(scope, 'security-added', `${name(lost)} is no longer enough`);
  if (won.length > 0) tell(scope, 'security-widened', `${name(won)} is now enough`);
}

function compareBodies(comparison: Comparison, before: JsonObject, after: JsonObject, scope: Scope): void {
  const old = before.requestBody;
  const now = after.requestBody;
  if (old === undefined && isObject(now))
    tell(scope, now.required === true ? 'required-body-added' : 'optional-body-added', 'takes a body');
  if (old !== undefined && now === undefined) tell(scope, 'body-removed', 'takes no body any more');
  if (old === undefined || now === undefined) return;
  const pair = resolvePair(comparison, { before: old, after: now }, inside(scope, 'body '), '');
  if (pair === undefined) return;
  const wasRequired = pair.before.required === true;
  const isRequired = pair.after.required === true;
  if (!wasRequired && isRequired) tell(pair.scope, 'body-became-required', 'is now required');
  if (wasRequired && !isRequired) tell(pair.scope, 'body-became-optional', 'is no longer required');
  const media = objectAt(pair.before, 'content');
  const others = objectAt(pair.after, 'content');
  const { removed, kept, added } = compareKeys(media, others);
  for (const type of removed) tell(pair.scope, 'input-media-type-removed', `${type} is no longer taken`);
  for (const type of added) tell(pair.scope, 'input-media-type-added', `${type} is taken`);
  for (const type of kept) {
    const schemas = { before: objectAt(media, type).schema, after: objectAt(others, type).schema };
    compareSchemas(comparison, schemas, 'input', pair.scope);
  }
}
