import type { JsonObject } from '../../scripts/contract-diff/json.ts';

const json = (schema: JsonObject) => ({ 'application/json': { schema } });
const ref = (path: string) => ({ $ref: `#/components/${path}` });

/** A document with a bit of everything that can change. */
export const sample: JsonObject = {
  openapi: '3.1.0',
  info: { title: 'Sample', version: '1.0.0' },
  servers: [{ url: 'https://api.example/v1' }, { url: 'https://dev.example/v1' }],
  security: [{ Key: [] }, { Token: [] }],
  tags: [{ name: 'Things' }],
  paths: {
    '/thing': {
      get: {
        operationId: 'listThings',
        tags: ['Things'],
        parameters: [
          { name: 'limit', in: 'query', schema: { type: 'integer', maximum: 100, default: 50 } },
          { name: 'Trace', in: 'header', required: true, schema: { type: 'string' } },
        ],
        responses: {
          200: {
            description: 'Things.',
            headers: {
              'X-Count': { required: true, schema: { type: 'integer' } },
              'X-Hint': { schema: { type: 'string' } },
            },
            content: {
              'application/json': { schema: { type: 'array', maxItems: 100, items: ref('schemas/Thing') } },
              'text/csv': { schema: { type: 'string' } },
            },
          },
          404: { description: 'None.' },
        },
      },
    },
    '/thing/{id}': {
      parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'string' } }],
      put: {
        operationId: 'putThing',
        tags: ['Things'],
        requestBody: {
          required: true,
          content: { ...json(ref('schemas/NewThing')), 'application/xml': { schema: { type: 'string' } } },
        },
        responses: { 200: { description: 'The thing.', content: json(ref('schemas/Thing')) } },
      },
      patch: {
        operationId: 'patchThing',
        tags: ['Things'],
        requestBody: { content: json(ref('schemas/NewThing')) },
        responses: { 204: { description: 'Done.' } },
      },
      delete: {
        operationId: 'deleteThing',
        tags: ['Things'],
        responses: { 204: { description: 'Gone.' } },
      },
    },
    '/ping': { get: { operationId: 'ping', tags: ['Things'], responses: { 204: { description: 'Pong.' } } } },
  },
  components: {
    securitySchemes: {
      Key: { type: 'apiKey', in: 'header', name: 'x-api-key' },
      Token: { type: 'http', scheme: 'bearer' },
    },
    schemas: {
      NewThing: {
        type: 'object',
        additionalProperties: false,
        required: ['name'],
        properties: {
          name: { type: 'string', maxLength: 50, pattern: '^[a-z]+$' },
          note: { type: ['string', 'integer', 'null'] },
          colour: { type: 'string', enum: ['red', 'green'] },
          serial: { type: 'integer', readOnly: true },
          extra: { type: 'object', properties: {} },
          size: { oneOf: [{ type: 'string' }, { type: 'integer' }] },
        },
      },
      Thing: {
        type: 'object',
        required: ['name', 'children'],
        properties: {
          name: { type: 'string', maxLength: 50 },
          note: { type: ['string', 'null'] },
          colour: { type: 'string', enum: ['red', 'green'] },
          children: { type: 'array', items: ref('schemas/Thing') },
          extra: { type: 'object', additionalProperties: false, properties: {} },
          size: { oneOf: [{ type: 'string' }, { type: 'integer' }] },
        },
      },
    },
  },
};
