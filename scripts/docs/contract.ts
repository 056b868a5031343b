import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Area, areas } from '../../src/config/config.ts';
import { placeholders } from '../../src/http/mounts/deployment.ts';
import type { Schema, Schemas } from './schema.ts';

type Example = { readonly summary?: string; readonly value: unknown };
type Media = { readonly schema: Schema; readonly examples?: Readonly<Record<string, Example>> };
export type Content = Readonly<Record<string, Media>>;

type Value = {
  readonly description: string;
  readonly required?: boolean;
  readonly deprecated?: boolean;
  readonly schema: Schema;
};

type Parameter = Value & {
  readonly in: 'path' | 'query' | 'header';
  readonly name: string;
  readonly example: unknown;
  /** Its only values, where the document lists them. */
  readonly choices?: readonly string[];
};

type Header = Value & {
  readonly example?: unknown;
  readonly examples?: Readonly<Record<string, Example>>;
};

export type Response = {
  readonly description: string;
  readonly headers?: Readonly<Record<string, Header>>;
  readonly content?: Content;
};

type DocumentOperation = {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description: string;
  readonly deprecated?: boolean;
  readonly security?: readonly unknown[];
  /** The scope that its key needs, or several of which one is enough, or `none`; absent where it takes no key. */
  readonly 'x-required-scope'?: string | readonly string[];
  readonly requestBody?: {
    readonly description: string;
    readonly required?: boolean;
    readonly content: Content;
  };
  readonly responses: Readonly<Record<string, Response>>;
};

type PathItem = { readonly parameters?: readonly Parameter[] } & Readonly<Record<string, unknown>>;

type Info = {
  readonly title: string;
  readonly version: string;
  readonly summary: string;
  readonly description: string;
};

type Tag = { readonly name: string; readonly description: string };

/** What the portal reads of a bundle; the bundle itself was judged by the linter. */
type Document = {
  readonly info: Info;
  readonly servers: readonly { readonly url: string }[];
  readonly tags: readonly Tag[];
  readonly paths: Readonly<Record<string, PathItem>>;
  readonly components: { readonly schemas: Schemas };
};

export type Operation = DocumentOperation & {
  readonly method: string;
  readonly path: string;
  /** The path behind the host: base path of the area, then the operation's own with its `{parameters}`. */
  readonly fullPath: string;
  /** The parameters of the path and of the operation. */
  readonly parameters: readonly Parameter[];
  /** Address of the operation in its area's reference, relative to the portal's folder. */
  readonly href: string;
};

export type AreaContract = {
  readonly area: Area;
  /** The title of the document without the product's name. */
  readonly title: string;
  readonly version: string;
  readonly summary: string;
  readonly description: string;
  readonly basePath: string;
  readonly tags: readonly Tag[];
  readonly operations: readonly Operation[];
  /** What the schemas of its operations refer to, by name. */
  readonly schemas: Schemas;
};

const methods = new Set(['get', 'post', 'put', 'patch', 'delete']);

/** What a local reference points to; anything else as it is. */
function targetOf(node: unknown, document: unknown): unknown {
  if (node === null || typeof node !== 'object' || !('$ref' in node)) return node;
  const steps = String(node.$ref).replace(/^#\//, '').split('/');
  // JSON all the way down, and the linter found every reference to resolve.
  const target = steps.reduce((at, step) => (at as Record<string, unknown>)[step], document);
  return targetOf(target, document);
}

function choicesOf(schema: unknown, document: unknown): string[] {
  const target = targetOf(schema, document);
  if (target === null || typeof target !== 'object') return [];
  if ('enum' in target && Array.isArray(target.enum)) return target.enum.map(String);
  return 'type' in target && target.type === 'boolean' ? ['true', 'false'] : [];
}

/** Replaces local references by their targets, except schemas, which may contain themselves. */
function resolveReferences(node: unknown, document: unknown): unknown {
  if (Array.isArray(node)) return node.map((item) => resolveReferences(item, document));
  const target = targetOf(node, document);
  if (target === null || typeof target !== 'object') return target;
  if (target !== node) return resolveReferences(target, document);
  const choices = 'in' in node && 'schema' in node ? { choices: choicesOf(node.schema, document) } : {};
  const resolved = Object.entries(node).map(([key, value]) => [
    key,
    key === 'schema' || key === 'components' ? value : resolveReferences(value, document),
  ]);
  return { ...Object.fromEntries(resolved), ...choices };
}

/** A name as it stands in the address of an operation. */
export const slug = (text: string) => text.toLowerCase().replaceAll(' ', '-');

/** The path behind the host, which is a variable or a host name. */
const basePathOf = ({ servers }: Document) => servers[0]?.url.replace(/^(\w+:\/\/)?[^/]*/, '') ?? '';

function operationsOf(area: Area, document: Document): Operation[] {
  return Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item)
      .filter(([method]) => methods.has(method))
      .map(([method, value]) => {
        const operation = value as DocumentOperation & { parameters?: readonly Parameter[] }; // what a method has
        return {
          ...operation,
          method: method.toUpperCase(),
          path,
          fullPath: `${basePathOf(document)}${path}`,
          parameters: [...(item.parameters ?? []), ...(operation.parameters ?? [])],
          href: `${area}.html#/${slug(operation.tags[0] ?? '')}/${slug(operation.operationId)}`,
        };
      }),
  );
}

async function readArea(directory: string, area: Area): Promise<AreaContract> {
  const text = await readFile(join(directory, `${area}.json`), 'utf8');
  const bundle: unknown = JSON.parse(sayingWhere(text));
  const document = resolveReferences(bundle, bundle) as Document; // a linted OpenAPI document
  const { info, tags, components } = document;
  return {
    area,
    title: info.title.replace(/^Tallystick /, ''),
    version: info.version,
    summary: info.summary,
    description: info.description,
    basePath: basePathOf(document),
    tags,
    operations: operationsOf(area, document),
    schemas: components.schemas,
  };
}

/** Reads the bundled documents from `directory`, in the order in which the portal shows them. */
export function readContract(directory: string): Promise<AreaContract[]> {
  return Promise.all(areas.map((area) => readArea(directory, area)));
}

/** The operation with this id. @throws Error when no document has it */
export function findOperation(contract: readonly AreaContract[], operationId: string): Operation {
  const found = contract
    .flatMap(({ operations }) => operations)
    .find((operation) => operation.operationId === operationId);
  if (found === undefined) throw new Error(`No document has an operation ${operationId}`);
  return found;
}

type Node = Readonly<Record<string, unknown>>;

// Where `npm start` answers, from which the examples come.
const sampleHost = 'http://localhost:3000';

/** The text of a document whose examples say where the service is. */
const sayingWhere = (text: string): string => text.replaceAll(sampleHost, placeholders.baseUrl);

/** A document as a deployment publishes it: its only server, its contact and the addresses in examples are its own. */
export function deployed(bundle: Node, basePath: string): Record<string, unknown> {
  const text = sayingWhere(JSON.stringify(bundle));
  const { info, ...document }: Node & { info: Node } = JSON.parse(text);
  const contact = { name: `${placeholders.operator} support`, url: placeholders.supportUrl };
  const server = { url: `${placeholders.baseUrl}${basePath}`, description: 'This service' };
  const { openapi, ...rest } = document;
  return { openapi, info: { ...info, contact }, ...rest, servers: [server] };
}
