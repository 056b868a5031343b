import { isDeepStrictEqual } from 'node:util';
import { type Direction, type Scope, tell } from './change.ts';
import { type JsonObject, quote } from './json.ts';

const upper = ['maximum', 'exclusiveMaximum', 'maxLength', 'maxItems', 'maxProperties'];
const lower = ['minimum', 'exclusiveMinimum', 'minLength', 'minItems', 'minProperties'];
const exact = ['pattern', 'format', 'multipleOf', 'contentEncoding', 'contentMediaType', 'uniqueItems'];

/** Words that `compareLimits` knows. */
export const limitWords: readonly string[] = [...upper, ...lower, ...exact];

/** Numeric formats with the magnitude that they keep a value below. */
const widths: Readonly<Record<string, number>> = {
  int32: 2 ** 31,
  int64: 2 ** 63,
  float: Number.POSITIVE_INFINITY,
  double: Number.POSITIVE_INFINITY,
};

/** A limit of a schema, undefined if it limits nothing: a width does not where the bounds are closer. */
function limitOf(schema: JsonObject, word: string): JsonObject[string] | undefined {
  const { format, minimum, maximum } = schema;
  const width = typeof format === 'string' ? widths[format] : undefined;
  if (word !== 'format' || width === undefined) return schema[word];
  const isCloser = typeof minimum === 'number' && typeof maximum === 'number';
  const isWithin = isCloser && minimum >= -width && maximum < width;
  return isWithin || width === Number.POSITIVE_INFINITY ? undefined : format;
}

/** Bounds, patterns and formats. One that is changed and not only moved counts as both narrowed and widened. */
export function compareLimits(
  before: JsonObject,
  after: JsonObject,
  direction: Direction,
  scope: Scope,
): void {
  for (const word of limitWords) {
    const old = limitOf(before, word);
    const now = limitOf(after, word);
    if (isDeepStrictEqual(old, now)) continue;
    const how = moved(word, old, now);
    const message = `${word} is ${quote(now)} instead of ${quote(old)}`;
    // Of a limit that is another one, each direction has its own worse half.
    const effect = how === 'changed' ? (direction === 'input' ? 'narrowed' : 'widened') : how;
    tell(scope, `${direction}-limit-${effect}`, message);
  }
}

function moved(
  word: string,
  old: JsonObject[string] | undefined,
  now: JsonObject[string] | undefined,
): 'narrowed' | 'widened' | 'changed' {
  if (old === undefined) return 'narrowed';
  if (now === undefined) return 'widened';
  if (typeof old !== 'number' || typeof now !== 'number' || exact.includes(word)) return 'changed';
  return now < old === upper.includes(word) ? 'narrowed' : 'widened';
}
