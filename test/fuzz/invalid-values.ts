import fc, { type Arbitrary } from 'fast-check';
import { anyText } from '../../src/http/input/messages.ts';
import { follow, type Json } from '../contract/documented.ts';
import { bound, typesOf, valuesOf } from './valid-values.ts';

/** A value that no schema of the field allows, with what is wrong with it. */
type Wrong = { readonly value: unknown; readonly why: string };

type Made = Arbitrary<Wrong>;

const wrong = (value: unknown, why: string): Wrong => ({ value, why });

const samples: Readonly<Record<string, readonly unknown[]>> = {
  string: ['x'],
  integer: [5, 1.5],
  boolean: [true],
  array: [[]],
  object: [{ a: 1 }],
};

/** Values that a field of a body refuses. Every one breaks a rule that stands in its schema. */
export function refusedByField(document: Json, found: Json, required: boolean): Made {
  const { node: schema } = follow(document, found);
  const types = typesOf(schema);
  const isNumeric = types.includes('number') || types.includes('integer');
  const ofOtherTypes = Object.entries(samples)
    .filter(([type]) => !types.includes(type) && !(type === 'integer' && isNumeric))
    .flatMap(([type, values]) =>
      values.map((value) => wrong(value, `is ${type}, not ${types.join(' or ')}`)),
    );
  const nulls = types.includes('null') && !required ? [] : [wrong(null, 'is null')];
  const texts = types.includes('string') ? refusedTexts(schema) : [];
  const numbers = isNumeric ? refusedNumbers(schema) : [];
  const lists = types.includes('array') ? refusedLists(document, schema) : [];
  const objects = types.includes('object') ? refusedObjects(schema) : [];
  return fc.oneof(fc.constantFrom(...ofOtherTypes, ...nulls, ...numbers, ...lists, ...objects), ...texts);
}

/** Texts that a parameter refuses. An empty one is a missing one. */
export function refusedByParameter(document: Json, found: Json): Made {
  const { node: schema } = follow(document, found);
  const [type] = typesOf(schema);
  if (type === 'string') {
    const texts = refusedTexts(schema);
    return fc.oneof(...texts).filter(({ value }) => value !== '');
  }
  const odd = ['x', '0x10', '1e1', ' 1', '+1', '1.0', 'null', 'TRUE', '٣', '1,2', '[]'];
  const numbers = type === 'integer' ? refusedNumbers(schema).map(({ value }) => String(value)) : ['1', '0'];
  return fc
    .constantFrom(...odd, ...numbers.filter((text) => text !== '1.5'))
    .map((text) => wrong(text, `is no ${type}`));
}

function refusedNumbers(schema: Json): Wrong[] {
  const found: Wrong[] = [];
  if (schema['minimum'] !== undefined)
    found.push(wrong(bound(schema, 'minimum', 0) - 1, 'is below the minimum'));
  // One more than the largest exact integer is not exact itself.
  if (schema['maximum'] !== undefined)
    found.push(wrong(bound(schema, 'maximum', 0) + 2, 'is above the maximum'));
  if (typesOf(schema).includes('integer')) found.push(wrong(1.5, 'is no integer'));
  return found;
}

function refusedTexts(schema: Json): Made[] {
  const made: Made[] = [
    fc.string({ unit: 'binary', maxLength: 10 }).map((text) => wrong(`${text}\0`, 'holds U+0000')),
  ];
  const maxLength = bound(schema, 'maxLength', 0);
  if (maxLength > 0) {
    const longer = fc.integer({ min: maxLength + 1, max: maxLength + 50 });
    made.push(longer.map((length) => wrong('x'.repeat(length), 'is too long')));
  }
  // What holds U+0000 is made above.
  const source = schema['pattern'] === undefined ? anyText : String(schema['pattern']);
  const pattern = source === anyText ? undefined : new RegExp(source, 'u');
  const isUuid = String(schema['format']) === 'uuid';
  const isTime = String(schema['format']) === 'date-time';
  if (pattern !== undefined || isUuid || isTime || schema['enum'] !== undefined) {
    const values = valuesOf(schema);
    const isRefused = (text: string) =>
      pattern !== undefined ? !pattern.test(text) : schema['enum'] === undefined || !values.includes(text);
    const other = fc.string({ unit: 'binary', minLength: 1, maxLength: 30 }).filter(isRefused);
    made.push(other.map((text) => wrong(text, 'has another form')));
  }
  return made;
}

function refusedLists(document: Json, schema: Json): Wrong[] {
  const item = follow(document, schema['items'] ?? {}).node;
  const maxItems = bound(schema, 'maxItems', 0);
  const fit = String(item['pattern'] ?? '').startsWith('^https?') ? 'https://example.com/a.png' : 'a';
  return [
    wrong(Array(maxItems + 1).fill(fit), 'has too many items'),
    wrong([fit, 5], 'has an item of another type'),
    wrong([fit, null], 'has an item that is null'),
    wrong(['x'.repeat(bound(item, 'maxLength', 0) + 1)], 'has an item that is too long'),
  ];
}

function refusedObjects(schema: Json): Wrong[] {
  const depth = bound(schema, 'x-max-depth', 0);
  const bytes = bound(schema, 'x-max-bytes', 0);
  if (depth === 0) return [];
  return [
    wrong(JSON.parse(`${'{"a":'.repeat(depth)}{}${'}'.repeat(depth)}`), 'is nested too deeply'),
    wrong({ a: 'x'.repeat(bytes) }, 'is too large'),
    wrong(JSON.parse('{"__proto__":{"isAdmin":true}}'), 'has the name __proto__'),
    wrong({ a: 2 ** 60 }, 'has a number that is not exact'),
    wrong({ 'a\0': 1 }, 'has a name with U+0000'),
  ];
}
