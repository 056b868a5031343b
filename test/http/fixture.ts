import type { OpenApiDocument } from '../../src/contract/documents.ts';

const responses = { '200': { description: 'ok' } };
const json = (schema: object, required = true) => ({
  required,
  content: { 'application/json': { schema } },
});

/** A document with one of everything that dispatch has to get right. Served at `/api`. */
export const fixture: OpenApiDocument = {
  openapi: '3.1.0',
  info: { title: 'Fixture', version: '1.0.0' },
  security: [{ ApiKey: [] }],
  paths: {
    '/thing': {
      get: {
        operationId: 'listThings',
        'x-required-scope': 'none',
        parameters: [
          {
            name: 'address',
            in: 'query',
            required: true,
            schema: {
              type: 'string',
              maxLength: 100,
              pattern: '^0x[0-9a-fA-F]{40}$',
              'x-form': '0x and 40 hex digits',
              'x-message-required': 'Address is required',
              'x-code-required': 'address_required',
            },
          },
          {
            name: 'chainId',
            in: 'query',
            required: true,
            schema: {
              type: 'string',
              maxLength: 100,
              'x-message-required': 'Network ID is required',
              'x-code-required': 'network_id_required',
            },
          },
          {
            name: 'limit',
            in: 'query',
            schema: { type: 'integer', minimum: 1, maximum: 100, default: 50 },
          },
          { name: 'claimed', in: 'query', schema: { type: 'boolean' } },
          { name: 'order', in: 'query', schema: { type: 'string', enum: ['ASC', 'DESC'] } },
        ],
        responses,
      },
      post: {
        operationId: 'createThing',
        'x-required-scope': 'events:write',
        parameters: [
          {
            name: 'Idempotency-Key',
            in: 'header',
            schema: { type: 'string', minLength: 1, maxLength: 255 },
          },
        ],
        requestBody: json({ $ref: '#/components/schemas/ThingRequest' }),
        responses,
      },
      delete: {
        operationId: 'removeThing',
        'x-required-scope': 'none',
        requestBody: json({ $ref: '#/components/schemas/AttendeeRequest' }),
        responses,
      },
    },
    '/thing/{id}': {
      parameters: [
        { name: 'id', in: 'path', required: true, schema: { type: 'string', format: 'uuid', maxLength: 36 } },
      ],
      get: { operationId: 'getThing', 'x-required-scope': 'none', responses },
      patch: {
        operationId: 'updateThing',
        'x-required-scope': 'none',
        requestBody: json({ $ref: '#/components/schemas/ThingChanges' }),
        responses,
      },
    },
    '/thing/{id}/part/{name}': {
      parameters: [
        { name: 'id', in: 'path', required: true, schema: { type: 'string', format: 'uuid', maxLength: 36 } },
        { name: 'name', in: 'path', required: true, schema: { type: 'string', minLength: 1, maxLength: 20 } },
      ],
      get: { operationId: 'getPart', 'x-required-scope': 'none', responses },
    },
    '/thing/{id}/mint': {
      parameters: [
        { name: 'id', in: 'path', required: true, schema: { type: 'string', format: 'uuid', maxLength: 36 } },
      ],
      post: {
        operationId: 'mintThing',
        'x-required-scope': 'none',
        requestBody: json({ $ref: '#/components/schemas/MintRequest' }, false),
        responses,
      },
    },
    '/thing/claim': { post: { operationId: 'claimThing', 'x-required-scope': 'none', responses } },
    '/public': { get: { operationId: 'getPublic', security: [], responses } },
  },
  components: {
    securitySchemes: { ApiKey: { type: 'apiKey', in: 'header', name: 'x-api-key' } },
    schemas: {
      ThingRequest: {
        type: 'object',
        additionalProperties: false,
        required: ['name'],
        properties: {
          name: { type: 'string', minLength: 1, maxLength: 50 },
          note: { type: ['string', 'null'], maxLength: 10_000 },
          count: { type: 'integer', minimum: 1, maximum: 100 },
          price: { type: ['number', 'null'], minimum: 0, maximum: 1000 },
          tags: {
            type: ['array', 'null'],
            maxItems: 3,
            items: { type: 'string', minLength: 1, maxLength: 10 },
          },
          startsAt: { type: 'string', format: 'date-time', maxLength: 40 },
          data: { $ref: '#/components/schemas/FreeData' },
          id: { type: 'string', format: 'uuid', maxLength: 36, readOnly: true },
          companyId: { type: 'string', maxLength: 255, readOnly: true },
        },
      },
      ThingChanges: {
        type: 'object',
        additionalProperties: false,
        properties: { name: { type: 'string', minLength: 1, maxLength: 50 } },
      },
      AttendeeRequest: {
        type: 'object',
        additionalProperties: false,
        required: ['attendeeId'],
        properties: {
          attendeeId: {
            type: 'string',
            minLength: 1,
            maxLength: 255,
            'x-message-required': 'Attendee ID is required',
            'x-code-required': 'attendee_id_required',
          },
        },
      },
      MintRequest: {
        type: 'object',
        additionalProperties: false,
        properties: { data: { $ref: '#/components/schemas/FreeData' } },
      },
      FreeData: {
        type: 'object',
        additionalProperties: true,
        'x-max-depth': 20,
        'x-max-bytes': 16_384,
      },
    },
  },
};
