import { isDeepStrictEqual } from 'node:util';
import { inside, type Scope, tell } from './change.ts';
import { compareSchemas } from './compare-schema.ts';
import { type Comparison, follow, type Operation, resolvePair } from './component.ts';
import { isObject, type Json, type JsonObject, textAt } from './json.ts';

/** Compares the parameters of two forms of an operation; those in the path by their position in it. */
export function compareParameters(
  comparison: Comparison,
  before: Operation,
  after: Operation,
  scope: Scope,
): void {
  const old = parametersOf(comparison.before, before);
  const now = parametersOf(comparison.after, after);
  for (const [key, parameter] of old) {
    const other = now.get(key);
    const place = inside(scope, `${parameter.place} `);
    if (other === undefined) tell(place, 'parameter-removed', 'is gone');
    else compareParameter(comparison, parameter, other, place);
  }
  for (const [key, { place, value }] of now) {
    if (old.has(key)) continue;
    const name = value.required === true ? 'required-parameter-added' : 'optional-parameter-added';
    tell(inside(scope, `${place} `), name, 'is new');
  }
}

type Parameter = {
  /** As it stands there: perhaps a reference. */
  readonly written: Json;
  readonly value: JsonObject;
  /** `query limit`. */
  readonly place: string;
};

function parametersOf(document: JsonObject, { path, item, operation }: Operation): Map<string, Parameter> {
  const inPath = [...path.matchAll(/\{([^}]+)\}/g)].map(([, name]) => name);
  const found = new Map<string, Parameter>();
  for (const owner of [item, operation]) {
    const listed = Array.isArray(owner.parameters) ? owner.parameters : [];
    for (const written of listed) {
      const { value } = follow(document, written);
      const where = textAt(value, 'in');
      const name = textAt(value, 'name');
      const exact = where === 'header' ? name.toLowerCase() : name;
      const key = where === 'path' ? `path ${inPath.indexOf(name)}` : `${where} ${exact}`;
      found.set(key, { written, value, place: `${where} ${name}` });
    }
  }
  return found;
}

function compareParameter(comparison: Comparison, before: Parameter, after: Parameter, place: Scope): void {
  if (before.place !== after.place && before.value.in === 'path')
    tell(place, 'path-parameter-renamed', `is ${after.place}`);
  const pair = resolvePair(comparison, { before: before.written, after: after.written }, place, '');
  if (pair === undefined) return;
  const { scope } = pair;
  const old = pair.before;
  const now = pair.after;
  if (old.required !== true && now.required === true)
    tell(scope, 'parameter-became-required', 'is now required');
  if (old.required === true && now.required !== true)
    tell(scope, 'parameter-became-optional', 'is no longer required');
  for (const word of ['style', 'explode', 'allowReserved', 'content'])
    if (!isDeepStrictEqual(old[word], now[word])) tell(scope, 'parameter-form-changed', `${word} differs`);
  for (const word of ['description', 'example', 'examples', 'deprecated'])
    if (!isDeepStrictEqual(old[word], now[word])) tell(scope, 'text-changed', `${word} differs`);
  if (isObject(old.schema) || isObject(now.schema))
    compareSchemas(comparison, { before: old.schema, after: now.schema }, 'input', scope);
}
