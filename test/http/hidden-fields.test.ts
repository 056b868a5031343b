import { describe, expect, test } from 'vitest';
import type { OperationObject, SchemaObject } from '../../src/contract/documents.ts';
import { ItemStream } from '../../src/contract/item-stream.ts';
import { compileHiding } from '../../src/http/dispatch/hidden-fields.ts';
import { planOperation } from '../../src/http/dispatch/operation-plan.ts';

const secret = { type: ['string', 'null'], 'x-required-scope': 'secrets:read' };
const item: SchemaObject = { type: 'object', properties: { id: { type: 'string' }, secret } };
const operationOf = (schema: SchemaObject): OperationObject => ({
  operationId: 'getThing',
  security: [{ ApiKey: [] }],
  'x-required-scope': 'rwa:read',
  responses: { '200': { content: { 'application/json': { schema } } } },
});
const limited = { scopes: ['rwa:read'] as const };
const found = { id: 'a', secret: 'b' };
const hide = (
  schema: SchemaObject,
  body: unknown,
  caller: { scopes: readonly 'rwa:read'[] | null } = limited,
) => compileHiding('getThing', operationOf(schema))?.({ status: 200, body }, caller).body;

describe('a field that needs a scope', () => {
  test.each([
    ['an object', item, found, { id: 'a', secret: null }],
    ['a list', { type: 'array', items: item }, [found], [{ id: 'a', secret: null }]],
    ['a field', { properties: { thing: item } }, { thing: found }, { thing: { id: 'a', secret: null } }],
    [
      'a list in a field',
      { properties: { all: { items: item } } },
      { all: [found] },
      { all: [{ id: 'a', secret: null }] },
    ],
    ['null', { properties: { thing: item } }, { thing: null }, { thing: null }],
  ])('is null in %s for a key without it', (_what, schema, body, expected) => {
    expect(hide(schema, body)).toEqual(expected);
    expect(hide(schema, body, { scopes: null })).toEqual(body);
  });

  test('stays in a reply of another status', () => {
    const reply = { status: 201, body: found };
    expect(compileHiding('getThing', operationOf(item))?.(reply, limited)).toBe(reply);
  });

  test('never leaves in a stream, where it could not be hidden', () => {
    const stream = new ItemStream([], 0);
    expect(() => hide({ type: 'array', items: item }, stream)).toThrow('must be an array');
  });

  test('needs a scope that exists, and a schema with an end', () => {
    const unknown = { properties: { secret: { 'x-required-scope': 'all:secrets' } } };
    expect(() => hide(unknown, found)).toThrow('getThing: secret needs a scope that does not exist');
    const endless: { properties: Record<string, SchemaObject> } = { properties: {} };
    endless.properties['below'] = endless;
    expect(() => hide(endless, found)).toThrow('contains itself');
  });
});

test.each([undefined, 'all', '', 'events:delete'])(
  'an operation with the scope %s does not start',
  (scope) => {
    const { 'x-required-scope': _scope, ...operation } = operationOf(item);
    const given = scope === undefined ? operation : { ...operation, 'x-required-scope': scope };
    expect(() => planOperation(given)).toThrow('getThing: x-required-scope must be a scope or none');
  },
);
