import type { FastifyInstance, FastifySchema } from 'fastify';
import {
  type Area,
  documents,
  type OperationObject,
  type ParameterObject,
} from '../../../../src/contract/documents.ts';

type Json = Readonly<Record<string, unknown>>;

/** Words that only people and other tools read. Fastify would reject some words. */
const dropped = new Set([
  'example',
  'examples',
  'description',
  'discriminator',
  'deprecated',
  'readOnly',
  'title',
]);

/** Gives the server the schemas of the documents, one set for each area. */
export function addComponents(server: FastifyInstance): void {
  for (const area of ['blockchain', 'events', 'rwa'] as const) {
    const schemas = documents[area].components?.['schemas'];
    server.addSchema({ $id: area, components: { schemas: rewritten(schemas, area) } });
  }
}

/** What an operation takes and gives, by its document. */
export function schemaOf(area: Area, path: string, method: 'GET' | 'POST', status: number): FastifySchema {
  // The documents are linted when they are made.
  const item = documents[area].paths[path] as Readonly<Record<string, OperationObject>> &
    Pick<OperationObject, 'parameters'>;
  const operation = item[method.toLowerCase()];
  if (operation === undefined) throw new Error(`No ${method} ${path}.`);
  const parameters = [...(item.parameters ?? []), ...(operation.parameters ?? [])].map(
    (one) => resolve(area, one) as ParameterObject,
  );
  const response = resolve(area, operation.responses?.[status]) as {
    content: Record<string, { schema: Json }>;
  };
  const body = operation.requestBody?.content['application/json']?.schema;
  return {
    params: ofParameters(area, parameters, 'path'),
    querystring: ofParameters(area, parameters, 'query'),
    ...(body !== undefined && { body: rewritten(body, area) }),
    response: { [status]: rewritten(response.content['application/json']?.schema, area) },
  };
}

function ofParameters(area: Area, all: readonly ParameterObject[], place: 'path' | 'query'): Json {
  const some = all.filter((parameter) => parameter.in === place);
  return {
    type: 'object',
    required: some.filter(({ required }) => required === true).map(({ name }) => name),
    properties: Object.fromEntries(some.map(({ name, schema }) => [name, rewritten(schema, area)])),
  };
}

function resolve(area: Area, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || !('$ref' in value)) return value;
  const names = String(value.$ref).slice(2).split('/');
  return names.reduce<unknown>((found, name) => (found as Json)[name], documents[area]);
}

/** References lead to the set of the area; what does not bind is left out. */
function rewritten(value: unknown, area: Area): Json {
  const walk = (one: unknown): unknown => {
    if (Array.isArray(one)) return one.map(walk);
    if (typeof one !== 'object' || one === null) return one;
    return Object.fromEntries(
      Object.entries(one).flatMap(([word, inner]) => {
        if (word === '$ref') return [[word, `${area}${String(inner)}`]];
        const isWord = dropped.has(word) && typeof inner !== 'object';
        return isWord || word.startsWith('x-') || word === 'examples' ? [] : [[word, walk(inner)]];
      }),
    );
  };
  return walk(value) as Json;
}
