import {
  areas,
  basePaths,
  documents,
  type OpenApiDocument,
  type SchemaObject,
} from '../../contract/documents.ts';

/** Where an argument of a tool goes. */
type Place = 'path' | 'query' | 'header' | 'body';

/** An operation of the documents as a tool: flat arguments, each of which is a parameter or a field of the body. */
export type OperationTool = {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** From the root of the service, with `{name}` for each parameter of the path. */
  readonly path: string;
  readonly isWrite: boolean;
  /** Nothing takes back what it does. */
  readonly isIrreversible: boolean;
  /** Whether its answer has a secret that nothing shows again. */
  readonly showsSecretOnce: boolean;
  readonly takesBody: boolean;
  readonly needsKey: boolean;
  /** The scopes of which the key needs one; undefined where any key will do, or none. */
  readonly scopes: readonly string[] | undefined;
  readonly places: ReadonlyMap<string, Place>;
  readonly inputSchema: InputSchema;
};

type InputSchema = {
  readonly type: 'object';
  readonly properties: Record<string, SchemaObject>;
  readonly required: string[];
  readonly additionalProperties: false;
};

const methods = { get: 'GET', post: 'POST', patch: 'PATCH', delete: 'DELETE' } as const;

/** The operations of all documents in their order, without the operations that are gone. */
export function createTools(): OperationTool[] {
  return areas.flatMap((area) =>
    Object.entries(documents[area].paths).flatMap(([path, item]) =>
      (Object.keys(methods) as (keyof typeof methods)[]).flatMap((key) => {
        const method = methods[key];
        const { [key]: operation, parameters: shared = [] } = item as PathItem; // by OpenAPI's own shape
        if (operation === undefined || operation.deprecated) return [];
        const parameters = [...shared, ...(operation.parameters ?? [])];
        const place = { method, path: `${basePaths[area]}${path}` };
        return toTool(documents[area], { ...operation, parameters }, place);
      }),
    ),
  );
}

type Operation = {
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  readonly deprecated?: boolean;
  readonly 'x-irreversible'?: boolean;
  readonly 'x-secret-once'?: boolean;
  readonly 'x-required-scope'?: string | readonly string[];
  readonly security?: readonly unknown[];
  readonly parameters?: readonly Part[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Part }>> };
};

type PathItem = { readonly parameters?: readonly Part[] } & {
  readonly [M in keyof typeof methods]?: Operation;
};

type Argument = {
  readonly name: string;
  readonly place: Place;
  readonly required: boolean;
  readonly schema: SchemaObject;
};

function toTool(
  document: OpenApiDocument,
  {
    operationId: name,
    summary: title,
    description,
    parameters = [],
    requestBody,
    security = document.security,
    'x-irreversible': isIrreversible = false,
    'x-secret-once': showsSecretOnce = false,
    'x-required-scope': required = 'none',
  }: Operation,
  { method, path }: Pick<OperationTool, 'method' | 'path'>,
): OperationTool {
  const fields = requestBody === undefined ? [] : fieldsOf(document, requestBody);
  const scopes = required === 'none' ? undefined : [required].flat();
  const inputs = [...parameters.map((part) => parameterOf(document, part)), ...fields];
  return {
    name,
    title,
    method,
    path,
    description: `${title}.\n\n${description.trim()}${scopes === undefined ? '' : `\n\nThe key needs the scope ${scopes.join(' or ')}.`}`,
    // A POST that only reads sends a secret, whose wrong guesses are counted. A GET that only a right to write allows shows a ticket.
    isWrite: method !== 'GET' || scopes?.every((scope) => scope.endsWith(':write')) === true,
    isIrreversible,
    showsSecretOnce,
    takesBody: requestBody !== undefined,
    scopes,
    needsKey: security === undefined || security.length > 0,
    places: new Map(inputs.map((input) => [input.name, input.place])),
    inputSchema: {
      type: 'object',
      properties: Object.fromEntries(inputs.map((input) => [input.name, input.schema])),
      required: inputs.filter(({ required }) => required).map((input) => input.name),
      additionalProperties: false,
    },
  };
}

function parameterOf(document: OpenApiDocument, part: Part): Argument {
  const parameter = follow(document, part) as unknown as Parameter; // linted when the bundle is made
  const { name, in: place, required = false, schema, description } = parameter;
  return { name, place, required, schema: plainSchema(document, schema, description) };
}

type Parameter = {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required?: boolean;
  readonly description: string;
  readonly schema: Part;
};

/** The fields of a body that mean something: what the service sets itself may be sent, and is dropped. */
function fieldsOf(document: OpenApiDocument, { content }: NonNullable<Operation['requestBody']>): Argument[] {
  const body = content['application/json'];
  if (body === undefined) return [];
  const { properties = {}, required = [] } = follow(document, body.schema) as SchemaObject;
  return Object.entries(properties)
    .filter(([, field]) => field.readOnly !== true)
    .map(([name, field]) => ({
      name,
      place: 'body',
      required: required.includes(name),
      schema: plainSchema(document, field),
    }));
}

/** An object of a document, or a reference to one of its components. */
type Part = { readonly $ref?: string; readonly [word: string]: unknown };

/** Follows a reference to a component of the same document. */
function follow({ components = {} }: OpenApiDocument, part: Part): Part {
  const [kind = '', name = ''] = part.$ref?.split('/').slice(2) ?? [];
  return part.$ref === undefined ? part : (components[kind]?.[name] as Part); // the bundle has no dead reference
}

// Words of OpenAPI and of ours, which mean nothing to a client that checks arguments by JSON Schema.
const isForeign = (word: string) => word.startsWith('x-') || word === 'example' || word === 'readOnly';

/**
 * A schema of a document as plain JSON Schema, with every reference written out. Schemas of requests are finite.
 * @param about replaces its description
 */
function plainSchema(document: OpenApiDocument, schema: Part, about?: unknown): SchemaObject {
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
