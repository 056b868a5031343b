import { isDeepStrictEqual } from 'node:util';
import { type Direction, inside, type Scope, tell } from './change.ts';
import { compareLimits, limitWords } from './compare-limits.ts';
import { compareObject, objectWords } from './compare-object.ts';
import { compareValues } from './compare-values.ts';
import { type Comparison, resolvePair } from './component.ts';
import { isObject, type Json, type JsonObject, quote } from './json.ts';

/** Words for readers: no program depends on them. */
const textWords = ['title', 'description', 'example', 'examples', 'externalDocs', 'deprecated', '$comment'];
const valueWords = ['type', 'enum', 'const'];
const listWords = ['allOf', 'anyOf', 'oneOf'] as const;
const ownWords = ['items', 'default', 'readOnly', 'writeOnly'];
/**
 * Words that only say how the service words a rejection, so a document may gain or change them silently. A code
 * belongs to the message in `x-message-required`, which is compared.
 */
const refusalWords = ['x-form', 'x-code-required'];
const knownWords = [...valueWords, ...limitWords, ...objectWords, ...listWords, ...ownWords, ...refusalWords];

/**
 * Compares two schemas, and what they refer to, as what callers send or as what they are answered.
 * A word that is not known here and differs is reported as risky, so nothing differs unseen.
 */
export function compareSchemas(
  comparison: Comparison,
  sides: { readonly before: Json | undefined; readonly after: Json | undefined },
  direction: Direction,
  scope: Scope,
): void {
  if (isDeepStrictEqual(sides.before, sides.after) && !refersAnywhere(sides.before)) return;
  const pair = resolvePair(comparison, sides, scope, direction);
  if (pair === undefined) return;
  const { before, after } = pair;
  const recur = (old: Json | undefined, now: Json | undefined, step: string) =>
    compareSchemas(comparison, { before: old, after: now }, direction, inside(pair.scope, step));
  compareValues(before, after, direction, pair.scope);
  compareLimits(before, after, direction, pair.scope);
  compareObject(before, after, { direction, scope: pair.scope, recur });
  if (before.items !== undefined || after.items !== undefined)
    recur(before.items ?? {}, after.items ?? {}, '/[]');
  for (const word of listWords)
    compareAlternatives(word, before, after, { direction, scope: pair.scope, recur });
  compareOtherWords(before, after, direction, pair.scope);
}

/** A reference may lead to something else although it reads the same. */
function refersAnywhere(value: Json | undefined): boolean {
  return JSON.stringify(value)?.includes('"$ref"') ?? false;
}

function compareOtherWords(before: JsonObject, after: JsonObject, direction: Direction, scope: Scope): void {
  if (direction === 'input' && !isDeepStrictEqual(before.default, after.default)) {
    const message = `is ${quote(after.default)} by default instead of ${quote(before.default)}`;
    tell(scope, 'input-default-changed', message);
  }
  for (const word of new Set([...Object.keys(before), ...Object.keys(after)])) {
    if (knownWords.includes(word) || isDeepStrictEqual(before[word], after[word])) continue;
    const isText = textWords.includes(word) || word.startsWith('x-');
    tell(scope, isText ? 'text-changed' : 'word-changed', `${word} differs`);
  }
}

type Steps = {
  readonly direction: Direction;
  readonly scope: Scope;
  readonly recur: (before: Json | undefined, after: Json | undefined, step: string) => void;
};

/** `oneOf` and its kin: like is compared with like, then in order; what is left came or went. */
function compareAlternatives(
  word: (typeof listWords)[number],
  before: JsonObject,
  after: JsonObject,
  { direction, scope, recur }: Steps,
): void {
  const old = listAt(before, word);
  const now = listAt(after, word);
  const goneOf = old.filter((one) => !now.some((other) => isDeepStrictEqual(one, other)));
  const newOf = now.filter((one) => !old.some((other) => isDeepStrictEqual(one, other)));
  old
    .filter((one) => !goneOf.includes(one))
    .forEach((one, index) => {
      recur(one, one, `/${word}/${index}`);
    });
  goneOf.forEach((one, index) => {
    const other = newOf[index];
    if (other !== undefined) recur(one, other, `/${word}/${index}`);
    else tell(scope, cameOrWent(word, 'removed', direction), `${word} no longer has ${quote(one)}`);
  });
  for (const one of newOf.slice(goneOf.length))
    tell(scope, cameOrWent(word, 'added', direction), `${word} also has ${quote(one)}`);
}

/** A further member of `allOf` narrows, a further one of the others widens. */
function cameOrWent(word: string, what: 'added' | 'removed', direction: Direction) {
  if (word !== 'allOf') return `${direction}-alternative-${what}` as const;
  return `${direction}-limit-${what === 'added' ? 'narrowed' : 'widened'}` as const;
}

function listAt(schema: JsonObject, word: string): readonly Json[] {
  const list = schema[word];
  return Array.isArray(list) ? list.filter(isObject) : [];
}
