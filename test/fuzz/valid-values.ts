import fc, { type Arbitrary } from 'fast-check';
import { anyText } from '../../src/http/input/messages.ts';
import { follow, type Json } from '../contract/documented.ts';

type Made = Arbitrary<unknown>;

/** Values for names whose rules no schema can say, tried beside those that the schema alone gives. */
export type Hints = Readonly<Record<string, Made>>;

const uuids = fc.uuid();
const isHostile = (text: string) => text.includes('\0') || !text.isWellFormed();

/** Any JSON value that fits a schema of a request. */
export function fitting(document: Json, found: Json, hints: Hints = {}, name = ''): Made {
  const { node: schema } = follow(document, found);
  const types = typesOf(schema);
  const own = types.map((type) => ofType(type, document, schema, hints));
  const bySchema = schema['enum'] === undefined ? fc.oneof(...own) : fc.constantFrom(...valuesOf(schema));
  const hint = hints[name];
  return hint === undefined
    ? bySchema
    : fc.oneof({ weight: 4, arbitrary: allowing(hint, types) }, { weight: 1, arbitrary: bySchema });
}

/** The values of a hint without null where the schema has none. */
const allowing = (hint: Made, types: readonly string[]): Made =>
  types.includes('null') ? hint : hint.filter((value) => value !== null);

export function typesOf(schema: Json): string[] {
  const { type } = schema;
  return type === undefined
    ? ['string']
    : typeof type === 'string'
      ? [type]
      : Object.values(type).map(String);
}

export function valuesOf(schema: Json): unknown[] {
  return Object.values(schema['enum'] ?? {});
}

/** A bound of a schema, or what stands for none. */
export function bound(schema: Json, word: string, otherwise: number): number {
  return schema[word] === undefined ? otherwise : Number(schema[word]);
}

function ofType(type: string, document: Json, schema: Json, hints: Hints): Made {
  switch (type) {
    case 'null':
      return fc.constant(null);
    case 'boolean':
      return fc.boolean();
    case 'integer':
      return integers(schema);
    case 'number':
      return fc.oneof(
        integers(schema),
        fc.double({
          min: bound(schema, 'minimum', -1e12),
          max: bound(schema, 'maximum', 1e12),
          noNaN: true,
        }),
      );
    case 'array':
      return fc.array(fitting(document, schema['items'] ?? {}, hints), {
        minLength: bound(schema, 'minItems', 0),
        // Far fewer than allowed: each has to be made, sent and read.
        maxLength: Math.min(8, bound(schema, 'maxItems', 8)),
      });
    case 'object':
      return schema['properties'] === undefined ? freeObjects : objects(document, schema, hints);
    default:
      return texts(schema);
  }
}

function integers(schema: Json): Made {
  const min = bound(schema, 'minimum', -(2 ** 31));
  const max = bound(schema, 'maximum', 2 ** 31);
  return fc.oneof(
    fc.integer({ min: Math.max(min, -(2 ** 31)), max: Math.min(max, 2 ** 31 - 1) }),
    fc.constantFrom(min, max),
  );
}

function objects(document: Json, schema: Json, hints: Hints): Made {
  const properties = Object.entries(schema['properties'] ?? {});
  const required = Object.values(schema['required'] ?? {}).map(String);
  const fields = properties.map(
    ([name, property]) => [name, fitting(document, property, hints, name)] as const,
  );
  return fc.record(Object.fromEntries(fields), { requiredKeys: required });
}

/** Objects of free content: odd names and values, within the limits of depth and size. */
const freeObjects: Made = fc
  .dictionary(
    fc.oneof(
      fc.string({ maxLength: 12 }),
      fc.constantFrom('constructor', 'prototype', 'toString', 'hasOwnProperty', 'a/b~c', ' '),
    ),
    fc.jsonValue({ maxDepth: 4, stringUnit: 'binary' }),
    { maxKeys: 6, noNullPrototype: true },
  )
  .filter((made) => {
    const text = JSON.stringify(made);
    // Numbers beyond what JavaScript holds exactly are refused by design.
    return (
      text.length < 10_000 && !text.includes('\\u0000') && !text.includes('"__proto__"') && isExact(made)
    );
  });

function isExact(value: unknown): boolean {
  if (typeof value === 'number') return Math.abs(value) <= Number.MAX_SAFE_INTEGER;
  return typeof value !== 'object' || value === null || Object.values(value).every(isExact);
}

function texts(schema: Json): Made {
  const { pattern, format } = schema;
  if (String(format) === 'uuid') return uuids;
  if (String(format) === 'uri') return fc.webUrl({ withFragments: true });
  if (String(format) === 'date-time')
    return fc
      .date({ min: new Date('0001-01-01'), max: new Date('9999-12-30'), noInvalidDate: true })
      .map((date) => date.toISOString());
  const minLength = bound(schema, 'minLength', 0);
  const maxLength = bound(schema, 'maxLength', 100);
  if (pattern !== undefined && String(pattern) !== anyText) {
    const matching = fc.stringMatching(new RegExp(String(pattern), 'u'));
    return matching.filter((text) => [...text].length <= maxLength && !isHostile(text));
  }
  const short = fc.string({ unit: 'binary', minLength, maxLength: Math.min(maxLength, 40) });
  const longest = fc.string({ unit: fc.constantFrom('a', 'é', '😀'), minLength: maxLength, maxLength });
  return fc.oneof(
    { weight: 20, arbitrary: short.filter((text) => !isHostile(text)) },
    { weight: 1, arbitrary: longest },
  );
}
