import { describe, expect, test } from 'vitest';
import { catalogue } from '../../src/base/errors.ts';
import { createLogger } from '../../src/base/log.ts';
import { createDocumentApp } from '../../src/compose/app.ts';
import {
  areas,
  basePaths,
  documents,
  type OpenApiDocument,
  type OperationObject,
  type SchemaObject,
} from '../../src/contract/documents.ts';
import { createAddressLimit } from '../../src/http/dispatch/address-limit.ts';
import { generousAdmission } from './support.ts';

/** The schemas of a document that have words for a missing field. */
function ofMissingFields(node: unknown): { message: unknown; code: unknown }[] {
  if (node === null || typeof node !== 'object') return [];
  const { 'x-message-required': message, 'x-code-required': code }: Record<string, unknown> = { ...node };
  const own = message === undefined && code === undefined ? [] : [{ message, code }];
  return [...own, ...Object.values(node).flatMap(ofMissingFields)];
}

type Item = Readonly<Record<string, OperationObject | undefined>>;
const methods = ['get', 'post', 'put', 'patch', 'delete'];

type Schemas = Readonly<Record<string, SchemaObject>>;
const schemasOf = ({ components }: OpenApiDocument) => components?.['schemas'] as Schemas; // the bundle has some

/** A field's description, or that of the component that it refers to. */
function aboutOf(field: SchemaObject, schemas: Schemas): string {
  const name =
    String(field['$ref'] ?? '')
      .split('/')
      .at(-1) ?? '';
  return String((schemas[name] ?? field)['description'] ?? '');
}

const operationsOf = ({ paths }: OpenApiDocument): OperationObject[] =>
  Object.values(paths).flatMap((item) => methods.flatMap((method) => (item as Item)[method] ?? []));

type Linking = { readonly links?: Readonly<Record<string, { readonly operationId: string }>> };

/** Operations that make something, and the one that reads it. */
const madeThings: Readonly<Record<string, string>> = {
  createEvent: 'getEvent',
  createRwaNfts: 'getNft',
  createAndMintNft: 'getNft',
  mintNft: 'getNft',
};

describe.each(areas)('the document %s', (area) => {
  const document = documents[area];

  test('is one that dispatch enforces: every schema compiles strictly', async () => {
    const ids = operationsOf(document).flatMap(({ operationId }) => operationId ?? []);
    const handlers = Object.fromEntries(ids.map((id) => [id, async () => ({ status: 200 })]));
    const served = { area, basePath: basePaths[area], document, handlers, isCompanyRequired: true };
    const parts = {
      verifier: { verify: async () => ({ ok: false, reason: 'invalid' }) as const, close: async () => {} },
      limiter: { consume: async () => ({ headers: {} }) },
      refusedKeys: createAddressLimit(0),
      publicRequests: createAddressLimit(0),
      admission: generousAdmission,
      db: undefined as never, // nothing is asked
      log: createLogger({ level: 'silent' }),
    };
    await expect(createDocumentApp([served], parts)).resolves.toBeDefined();
  });

  test('gives every missing field the code of the catalogue that has its message', () => {
    for (const { message, code } of ofMissingFields(document)) {
      expect(Object.entries(catalogue).find(([known]) => known === code)?.[1].detail).toBe(message);
    }
  });

  test('names every problem code there is', () => {
    const { enum: codes } = schemasOf(document)['ProblemCode'] ?? {};
    expect(codes).toEqual(Object.keys(catalogue));
  });

  test('says of each field that an answer may lack when it is absent', () => {
    const schemas = schemasOf(document);
    const silent = Object.entries(schemas)
      .filter(([name]) => !name.endsWith('Request'))
      .flatMap(([name, { properties = {}, required = [] }]) =>
        Object.entries(properties)
          .filter(([field]) => !required.includes(field))
          .filter(([, field]) => !/\babsent\b/i.test(aboutOf(field, schemas)))
          .map(([field]) => `${name}.${field}`),
      );
    expect(silent).toEqual([]);
  });

  test('leads from what was made to where it is read', () => {
    const ids = new Set(operationsOf(document).map(({ operationId }) => operationId));
    for (const { operationId, responses = {} } of operationsOf(document)) {
      const links = Object.values(responses).flatMap((response) =>
        Object.values((response as Linking).links ?? {}),
      );
      for (const link of links) expect(ids).toContain(link.operationId);
      const wanted = madeThings[operationId ?? ''];
      if (wanted !== undefined) expect(links.map((link) => link.operationId)).toContain(wanted);
    }
  });
});
