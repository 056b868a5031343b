import type { OpenApiDocument, SchemaObject } from '../../contract/documents.ts';

/** An object of a document, or a reference to one of its components. */
export type Part = { readonly $ref?: string; readonly [word: string]: unknown };

/** Follows a reference to a component of the same document. */
export function follow({ components = {} }: OpenApiDocument, part: Part): Part {
  const [kind = '', name = ''] = part.$ref?.split('/').slice(2) ?? [];
  return part.$ref === undefined ? part : (components[kind]?.[name] as Part); // the bundle has no dead reference
}

// Words of OpenAPI and of ours, which mean nothing to a client that checks arguments by JSON Schema.
const isForeign = (word: string) => word.startsWith('x-') || word === 'example' || word === 'readOnly';

/**
 * A schema of a document as plain JSON Schema, with every reference written out. Schemas of requests are finite.
 * @param about replaces its description
 */
export function plainSchema(document: OpenApiDocument, schema: Part, about?: unknown): SchemaObject {
  const whole = plain(document, schema) as SchemaObject; // of an object comes an object
  return about === undefined ? whole : { ...whole, description: about };
}

function plain(document: OpenApiDocument, value: unknown): unknown {
  if (Array.isArray(value)) return value.map((item) => plain(document, item));
  if (typeof value !== 'object' || value === null) return value;
  const whole = follow(document, value as Part);
  return Object.fromEntries(
    Object.entries(whole).flatMap(([word, content]) => {
      if (isForeign(word)) return [];
      return [
        [word, word === 'properties' ? plainFields(document, content as Fields) : plain(document, content)],
      ];
    }),
  );
}

type Fields = Readonly<Record<string, Part>>;

// The names of fields are no words of the schema.
const plainFields = (document: OpenApiDocument, fields: Fields) =>
  Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, plain(document, field)]));
