import { type Direction, inside, type Scope, tell } from './change.ts';
import { compareKeys, isObject, type Json, type JsonObject, objectAt } from './json.ts';

type Steps = {
  readonly direction: Direction;
  readonly scope: Scope;
  readonly recur: (before: Json | undefined, after: Json | undefined, step: string) => void;
};

/** Words that `compareObject` knows. */
export const objectWords = ['properties', 'required', 'additionalProperties', 'unevaluatedProperties'];

/** Properties, which of them are required, and whether others are let through. */
export function compareObject(before: JsonObject, after: JsonObject, steps: Steps): void {
  const old = objectAt(before, 'properties');
  const now = objectAt(after, 'properties');
  const { removed, kept, added } = compareKeys(old, now);
  const { direction, scope, recur } = steps;
  for (const name of removed) tell(inside(scope, `/${name}`), `${direction}-property-removed`, 'is gone');
  for (const name of kept) {
    recur(old[name], now[name], `/${name}`);
    if (direction === 'input') compareReadOnly(old[name], now[name], inside(scope, `/${name}`));
  }
  for (const name of added) tell(inside(scope, `/${name}`), `${direction}-property-added`, 'is new');
  compareRequired(before, after, { kept, removed }, steps);
  compareOpenness(before, after, steps);
}

function compareReadOnly(before: Json | undefined, after: Json | undefined, scope: Scope): void {
  const wasRead = isObject(before) && before.readOnly === true;
  const isRead = isObject(after) && after.readOnly === true;
  if (!wasRead && isRead) tell(scope, 'input-property-became-read-only', 'is now ignored when sent');
  if (wasRead && !isRead) tell(scope, 'input-property-added', 'is no longer ignored when sent');
}

function compareRequired(
  before: JsonObject,
  after: JsonObject,
  names: { readonly kept: readonly string[]; readonly removed: readonly string[] },
  { direction, scope }: Steps,
): void {
  const old = requiredOf(before);
  const now = requiredOf(after);
  for (const name of now.filter((one) => !old.includes(one))) {
    // A new property of an answer that is always there is told as new.
    if (direction === 'input' || names.kept.includes(name))
      tell(inside(scope, `/${name}`), `${direction}-property-became-required`, 'is now required');
  }
  for (const name of old.filter((one) => !now.includes(one) && !names.removed.includes(one)))
    tell(inside(scope, `/${name}`), `${direction}-property-became-optional`, 'is no longer required');
}

function requiredOf({ required }: JsonObject): readonly string[] {
  return Array.isArray(required) ? required.map(String) : [];
}

function compareOpenness(before: JsonObject, after: JsonObject, { direction, scope, recur }: Steps): void {
  const old = othersOf(before);
  const now = othersOf(after);
  if (old !== false && now === false)
    tell(scope, `${direction}-closed`, 'other properties are no longer let through');
  else if (old === false && now !== false)
    tell(scope, `${direction}-opened`, 'other properties are now let through');
  else if (isObject(old) || isObject(now)) recur(isObject(old) ? old : {}, isObject(now) ? now : {}, '/*');
}

function othersOf({ additionalProperties, unevaluatedProperties }: JsonObject): Json {
  return additionalProperties ?? unevaluatedProperties ?? true;
}
