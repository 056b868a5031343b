import { readFileSync } from 'node:fs';
import { Ajv, type ValidateFunction } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { type Document as Definition, OpenAPIBackend } from 'openapi-backend';
import { describe, expect, test } from 'vitest';
import { operationsLeftOut, toThreeZero } from '../../scripts/contract/three-zero.ts';
import { areas } from '../../src/contract/documents.ts';
import { escapePointer, type Json } from './documented.ts';

type Sample = { readonly schema: string; readonly value: unknown };

const read = (name: string): Json =>
  JSON.parse(readFileSync(new URL(`../../src/contract/generated/${name}.json`, import.meta.url), 'utf8'));

const methods = ['get', 'put', 'post', 'patch', 'delete'];

/** Every place where an example stands beside its schema. */
function samplesOf(node: Json, document: Json, at: string[] = []): Sample[] {
  if (node === null || typeof node !== 'object') return [];
  const own = [
    ...('example' in node ? [node['example']] : []),
    ...Object.values(node['examples'] ?? {}).map((example) => {
      const name = String(example['$ref'] ?? '').replace('#/components/examples/', '');
      return (name ? document['components']?.['examples']?.[name] : example)?.['value'];
    }),
  ];
  const schema = ['#', ...at.map(escapePointer), 'schema'].join('/');
  const below = Object.entries(node).flatMap(([key, child]) =>
    ['example', 'examples', 'schema', 'schemas'].includes(key)
      ? []
      : samplesOf(child, document, [...at, key]),
  );
  return 'schema' in node ? [...own.map((value) => ({ schema, value })), ...below] : below;
}

const replacements = [null, '', 'x', 0, -1, 1.5, 1e16, true, [], [null], {}, { colour: 'red' }];

/** The value with one of its nodes replaced, taken away or given a field more, for every node. */
function* mutationsOf(value: unknown): Generator<unknown> {
  yield* replacements;
  if (value === null || typeof value !== 'object') return;
  if (!Array.isArray(value)) yield { ...value, colour: 'red' };
  for (const key of Object.keys(value)) {
    const copy = (change: (target: Record<string, unknown>) => void) => {
      const target = structuredClone(value) as Record<string, unknown>; // an object or an array; both take keys
      change(target);
      return target;
    };
    if (!Array.isArray(value)) yield copy((target) => Reflect.deleteProperty(target, key));
    const child: unknown = Reflect.get(value, key);
    for (const mutated of mutationsOf(child)) yield copy((target) => Reflect.set(target, key, mutated));
  }
}

function validatorsOf(document: Json, version: '3.0' | '3.1'): (schema: string) => ValidateFunction {
  const options = { strict: false, validateSchema: false, logger: false } as const;
  // The draft of Ajv's default knows `nullable` as OpenAPI 3.0 means it.
  const ajv = version === '3.0' ? new Ajv(options) : new Ajv2020(options);
  addFormats.default(ajv);
  ajv.addSchema(document, 'document');
  const known = new Map<string, ValidateFunction>();
  return (schema) => {
    const validate = known.get(schema) ?? ajv.compile({ $ref: `document${schema}` });
    known.set(schema, validate);
    return validate;
  };
}

/** What both versions say in the same words: everything but schemas. */
function outsideSchemas(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(outsideSchemas);
  if (node === null || typeof node !== 'object') return node;
  const entries = Object.entries(node).filter(([key]) => key !== 'schema' && key !== 'schemas');
  return Object.fromEntries(entries.map(([key, value]) => [key, outsideSchemas(value)]));
}

const without = (node: Json, ...names: string[]): Json =>
  Object.fromEntries(Object.entries(node).filter(([name]) => !names.includes(name)));

const operationIdsOf = ({ paths = {} }: Json) =>
  Object.values(paths).flatMap((item) =>
    methods.flatMap((method) => (item[method] ? String(item[method]['operationId']) : [])),
  );

describe.each(areas)('the OpenAPI 3.0.3 form of %s', (area) => {
  const current = read(area);
  const older = read(`${area}-3.0`);

  test('is valid by the meta-schema of OpenAPI 3.0, which refuses the 3.1 form', async () => {
    const judge = (document: Json) => {
      // The meta-schema judges it, not TypeScript; and it gets a copy, for it resolves references in place.
      const definition = structuredClone(document) as unknown as Definition;
      return new OpenAPIBackend({ definition, strict: true, validate: false }).init();
    };
    expect(String(older['openapi'])).toBe('3.0.3');
    await expect(judge(older)).resolves.toBeDefined();
    await expect(judge(current)).rejects.toThrow('not valid OpenAPI');
  });

  test('has every operation but those with a body of DELETE, which the path variant stands for', () => {
    const leftOut = operationIdsOf(current).filter((id) => !operationIdsOf(older).includes(id));
    expect(leftOut).toEqual(area === 'events' ? ['removeAttendee'] : []);
    expect(operationsLeftOut(current)).toEqual(leftOut);
    if (area === 'events') {
      expect(operationIdsOf(older)).toContain('removeAttendeeById');
      expect(String(older['info']?.['description'])).toContain('It lacks `removeAttendee`');
    }
  });

  test('says the same outside of schemas', () => {
    const { paths = {}, components = {}, info = {}, ...rest } = current;
    const { paths: olderPaths, components: olderComponents, info: olderInfo = {}, ...olderRest } = older;
    const kept = Object.entries(paths).map(([path, item]) => [
      path,
      item['delete']?.['requestBody'] ? without(item, 'delete') : item,
    ]);
    expect(outsideSchemas(olderPaths)).toEqual(outsideSchemas(Object.fromEntries(kept)));
    expect(outsideSchemas(olderComponents)).toEqual(outsideSchemas(components));
    expect(without(olderRest, 'openapi')).toEqual(without(rest, 'openapi', 'webhooks'));
    const changed = ['summary', 'description', 'license'];
    expect(without(olderInfo, ...changed)).toEqual(without(info, ...changed));
    for (const word of ['summary', 'description']) {
      expect(String(olderInfo['description'])).toContain(String(info[word]));
    }
    // The body of `removeAttendee` goes with it.
    const left = Object.keys(components['schemas'] ?? {}).filter((name) => name !== 'AttendeeRequest');
    expect(Object.keys(olderComponents?.['schemas'] ?? {})).toEqual(left);
  });

  test('accepts and refuses the same values in every place that has an example', () => {
    const samples = samplesOf(older, older);
    const validatorIn = { older: validatorsOf(older, '3.0'), current: validatorsOf(current, '3.1') };
    const verdicts = { accepted: 0, refused: 0 };
    for (const { schema, value } of samples) {
      const [asOlder, asCurrent] = [validatorIn.older(schema), validatorIn.current(schema)];
      expect([schema, asOlder(value)]).toEqual([schema, true]);
      for (const mutated of mutationsOf(value)) {
        const verdict = asCurrent(mutated);
        if (asOlder(mutated) !== verdict)
          expect([schema, mutated, asOlder(mutated)]).toEqual([schema, mutated, verdict]);
        verdicts[verdict ? 'accepted' : 'refused'] += 1;
      }
    }
    expect(samples.length).toBeGreaterThan(30);
    expect(verdicts.accepted).toBeGreaterThan(400);
    expect(verdicts.refused).toBeGreaterThan(3_000);
  });
});

describe('making the OpenAPI 3.0.3 form', () => {
  const withSchema = (schema: object) => ({
    openapi: '3.1.0',
    info: {},
    paths: {},
    components: { schemas: { Thing: schema } },
  });

  test.each([
    ['const', { const: 5 }],
    ['prefixItems', { type: 'array', prefixItems: [{ type: 'string' }] }],
    ['if', { type: 'object', if: { required: ['a'] } }],
    ['patternProperties', { type: 'object', properties: { a: { patternProperties: {} } } }],
    ['examples', { type: 'array', items: { examples: [1] } }],
    ['exclusiveMinimum', { additionalProperties: { exclusiveMinimum: 0 } }],
    ['allOf', { allOf: [] }],
  ])(
    'refuses %s, which has no word in 3.0, another meaning, or no place in our documents',
    (word, schema) => {
      expect(() => toThreeZero(withSchema(schema))).toThrow(`"${word}"`);
    },
  );

  test('refuses a schema of two types, and one of null alone', () => {
    for (const type of [['string', 'integer'], ['string', 'integer', 'null'], 'null']) {
      expect(() => toThreeZero(withSchema({ type }))).toThrow('one type plus null');
    }
  });

  test('leaves webhooks out, which 3.0 documents do not have, and rejects what else they lack', () => {
    expect(toThreeZero({ ...withSchema({}), webhooks: {} })).not.toHaveProperty('webhooks');
    expect(() => toThreeZero({ ...withSchema({}), jsonSchemaDialect: 'x' })).toThrow('jsonSchemaDialect');
  });
});
