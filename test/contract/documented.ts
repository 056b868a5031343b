import { type Area, areas, basePaths, documents } from '../../src/contract/documents.ts';

/** A node of a document; leaves are read through String(). */
export type Json = { readonly [key: string]: Json };

type Method = 'get' | 'put' | 'post' | 'delete' | 'patch' | 'head' | 'options' | 'trace';

export type DocumentedParameter = {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required: boolean;
  /** Without references at its top. */
  readonly schema: Json;
};

export type DocumentedResponse = {
  readonly status: number;
  /** Names of its examples; problems are named after their code. */
  readonly examples: readonly string[];
  readonly node: Json;
  /** Where it stands in the document, as a JSON pointer with `#`. */
  readonly pointer: string;
};

/** An operation with everything that the document says of it, references followed. */
export type DocumentedOperation = {
  readonly area: Area;
  readonly id: string;
  readonly method: Method;
  /** Path template with the base path of the area, such as `/v1/api/rwa/{id}`. */
  readonly template: string;
  /** Fits the paths of the template. */
  readonly pattern: RegExp;
  readonly isPublic: boolean;
  /** The scopes of which its key needs one, or `none`; empty where it takes no key. */
  readonly requiredScopes: readonly string[];
  readonly parameters: readonly DocumentedParameter[];
  readonly body: { readonly required: boolean; readonly schema: Json; readonly examples: Json } | undefined;
  readonly responses: readonly DocumentedResponse[];
};

const methods = ['get', 'put', 'post', 'delete', 'patch', 'head', 'options', 'trace'] as const;

/** Every operation of the three documents; those without a parameter in their path come first. */
export const documentedOperations: readonly DocumentedOperation[] = areas
  .flatMap(operationsOf)
  .sort((a, b) => Number(a.template.includes('{')) - Number(b.template.includes('{')));

/** Every documented `operationId status`. */
export const documentedPairs: readonly string[] = documentedOperations.flatMap(({ id, responses }) =>
  responses.map(({ status }) => `${id} ${status}`),
);

/** The document of an area, as a tree. */
export function documentOf(area: Area): Json {
  return documents[area] as unknown as Json; // a tree of JSON like any other
}

/** The node that a reference names, or the node itself. */
export function follow(document: Json, node: Json): { node: Json; pointer: string | undefined } {
  if (node['$ref'] === undefined) return { node, pointer: undefined };
  const reference = String(node['$ref']);
  const target = reference
    .slice(2)
    .split('/')
    .reduce<Json | undefined>((at, part) => at?.[part], document);
  if (target === undefined) throw new Error(`${reference} leads nowhere`);
  return { node: target, pointer: reference };
}

export function escapePointer(part: string): string {
  return encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1'));
}

function operationsOf(area: Area): DocumentedOperation[] {
  const document = documentOf(area);
  return Object.entries(document['paths'] ?? {}).flatMap(([path, item]) =>
    methods.flatMap((method) => {
      const node = item[method];
      if (node === undefined) return [];
      const template = `${basePaths[area]}${path}`;
      const source = template.replaceAll('.', '\\.').replace(/\{[^}]+\}/g, '[^/]+');
      const security = node['security'] ?? document['security'];
      return [
        {
          area,
          method,
          template,
          id: String(node['operationId']),
          pattern: new RegExp(`^${source}$`),
          isPublic: Object.keys(security ?? {}).length === 0,
          requiredScopes: [node['x-required-scope'] ?? []].flat().map(String),
          parameters: [...listOf(item['parameters']), ...listOf(node['parameters'])].map((each) =>
            parameterOf(document, each),
          ),
          body: bodyOf(document, node['requestBody']),
          responses: responsesOf(document, path, method, node),
        },
      ];
    }),
  );
}

function listOf(node: Json | undefined): Json[] {
  return Object.values(node ?? {});
}

function parameterOf(document: Json, found: Json): DocumentedParameter {
  const { node } = follow(document, found);
  return {
    name: String(node['name']),
    in: String(node['in']) as DocumentedParameter['in'], // the linter allows no other place
    required: String(node['required']) === 'true',
    schema: follow(document, node['schema'] ?? {}).node,
  };
}

function bodyOf(document: Json, node: Json | undefined): DocumentedOperation['body'] {
  const content = node?.['content']?.['application/json'];
  if (content === undefined) return undefined;
  return {
    required: String(node?.['required']) === 'true',
    schema: follow(document, content['schema'] ?? {}).node,
    examples: content['examples'] ?? {},
  };
}

function responsesOf(document: Json, path: string, method: Method, operation: Json): DocumentedResponse[] {
  return Object.entries(operation['responses'] ?? {}).map(([status, found]) => {
    const { node, pointer } = follow(document, found);
    const own = `#/paths/${escapePointer(path)}/${method}/responses/${status}`;
    const examples = Object.values(node['content'] ?? {}).flatMap((type) =>
      Object.keys(type['examples'] ?? {}),
    );
    return { status: Number(status), examples, node, pointer: pointer ?? own };
  });
}
