import { isDeepStrictEqual } from 'node:util';
import { inside, type Scope, tell } from './change.ts';
import { compareSchemas } from './compare-schema.ts';
import { type Comparison, resolvePair } from './component.ts';
import { compareKeys, type JsonObject, objectAt } from './json.ts';

/** Compares the answers of an operation: statuses, their headers, media types and bodies. */
export function compareResponses(
  comparison: Comparison,
  before: JsonObject,
  after: JsonObject,
  scope: Scope,
): void {
  const { removed, kept, added } = compareKeys(before, after);
  for (const status of removed) tell(inside(scope, status), 'status-removed', 'is no longer answered');
  for (const status of added) tell(inside(scope, status), 'status-added', 'may be answered');
  for (const status of kept) {
    const sides = { before: before[status], after: after[status] };
    const pair = resolvePair(comparison, sides, inside(scope, `${status} `), '');
    if (pair === undefined) continue;
    if (pair.before.description !== pair.after.description)
      tell(pair.scope, 'text-changed', 'description differs');
    compareHeaders(comparison, pair.before, pair.after, pair.scope);
    compareContents(comparison, pair.before, pair.after, pair.scope);
  }
}

function compareHeaders(comparison: Comparison, before: JsonObject, after: JsonObject, scope: Scope): void {
  const old = byLowerCase(objectAt(before, 'headers'));
  const now = byLowerCase(objectAt(after, 'headers'));
  const { removed, kept, added } = compareKeys(old, now);
  for (const name of removed) tell(inside(scope, `header ${name}`), 'header-removed', 'is gone');
  for (const name of added) tell(inside(scope, `header ${name}`), 'header-added', 'is new');
  for (const name of kept) {
    const sides = { before: old[name], after: now[name] };
    const pair = resolvePair(comparison, sides, inside(scope, `header ${name} `), '');
    if (pair === undefined) continue;
    const was = pair.before.required === true;
    const is = pair.after.required === true;
    if (was && !is) tell(pair.scope, 'header-became-optional', 'is no longer always there');
    if (!was && is) tell(pair.scope, 'header-became-required', 'is now always there');
    if (pair.before.description !== pair.after.description)
      tell(pair.scope, 'text-changed', 'description differs');
    compareSchemas(
      comparison,
      { before: pair.before.schema, after: pair.after.schema },
      'output',
      pair.scope,
    );
  }
}

// Header names are the same in any case.
function byLowerCase(headers: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

function compareContents(comparison: Comparison, before: JsonObject, after: JsonObject, scope: Scope): void {
  const old = objectAt(before, 'content');
  const now = objectAt(after, 'content');
  const { removed, kept, added } = compareKeys(old, now);
  for (const type of removed) tell(inside(scope, type), 'output-media-type-removed', 'is no longer answered');
  for (const type of added) tell(inside(scope, type), 'output-media-type-added', 'may be answered');
  for (const type of kept) {
    const media = objectAt(old, type);
    const other = objectAt(now, type);
    const place = inside(scope, `${type} `);
    for (const word of ['example', 'examples'])
      if (!isDeepStrictEqual(media[word], other[word])) tell(place, 'text-changed', `${word} differ`);
    compareSchemas(comparison, { before: media.schema, after: other.schema }, 'output', place);
  }
}
