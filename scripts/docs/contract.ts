import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Area, areas } from '../../src/config.ts';

type Example = { readonly summary?: string; readonly value: unknown };
type Media = { readonly examples?: Readonly<Record<string, Example>> };
type Content = Readonly<Record<string, Media>>;

type DocumentOperation = {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly deprecated?: boolean;
  readonly security?: readonly unknown[];
  readonly requestBody?: { readonly content: Content };
  readonly responses: Readonly<Record<string, { readonly content?: Content }>>;
};

/** What the portal reads of a bundle; the bundle itself was judged by the linter. */
type Document = {
  readonly info: { readonly title: string; readonly summary: string };
  readonly servers: readonly { readonly url: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, DocumentOperation>>>>;
};

export type Operation = DocumentOperation & {
  readonly method: string;
  readonly path: string;
  /** Address of the operation in its area's reference, relative to the portal's folder. */
  readonly href: string;
  /** Documented, but answered with 501 in this release. */
  readonly pending: boolean;
};

export type AreaContract = {
  readonly area: Area;
  /** The title of the document without the product's name. */
  readonly title: string;
  readonly summary: string;
  readonly basePath: string;
  readonly operations: readonly Operation[];
};

const methods = new Set(['get', 'post', 'put', 'patch', 'delete']);

/** Replaces local references by what they point to, except in schemas, which may hold themselves. */
function resolveReferences(node: unknown, document: unknown): unknown {
  if (Array.isArray(node)) return node.map((item) => resolveReferences(item, document));
  if (node === null || typeof node !== 'object') return node;
  if ('$ref' in node && typeof node.$ref === 'string') {
    const steps = node.$ref.replace(/^#\//, '').split('/');
    // JSON all the way down, and the linter found every reference to resolve.
    const target = steps.reduce((at, step) => (at as Record<string, unknown>)[step], document);
    return resolveReferences(target, document);
  }
  const entries = Object.entries(node).filter(([key]) => key !== 'schema' && key !== 'components');
  return Object.fromEntries(entries.map(([key, value]) => [key, resolveReferences(value, document)]));
}

const slug = (text: string) => text.toLowerCase().replaceAll(' ', '-');

function operationsOf(area: Area, { paths }: Document): Operation[] {
  return Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item)
      .filter(([method]) => methods.has(method))
      .map(([method, operation]) => ({
        ...operation,
        method: method.toUpperCase(),
        path,
        href: `${area}.html#/${slug(operation.tags[0] ?? '')}/${slug(operation.operationId)}`,
        pending: '501' in operation.responses,
      })),
  );
}

async function readArea(directory: string, area: Area): Promise<AreaContract> {
  const bundle: unknown = JSON.parse(await readFile(join(directory, `${area}.json`), 'utf8'));
  const document = resolveReferences(bundle, bundle) as Document; // a linted OpenAPI document
  const [server] = document.servers;
  return {
    area,
    title: document.info.title.replace(/^Tallystick /, ''),
    summary: document.info.summary,
    // The path behind the host, which is a variable or a host name.
    basePath: server?.url.replace(/^(\w+:\/\/)?[^/]*/, '') ?? '',
    operations: operationsOf(area, document),
  };
}

/** Reads the bundled documents from `directory`, in the order in which the portal shows them. */
export function readContract(directory: string): Promise<AreaContract[]> {
  return Promise.all(areas.map((area) => readArea(directory, area)));
}

/** The published files of a document: OpenAPI 3.1, and its 3.0.3 form for tools that do not know 3.1. */
export const documentNames = (area: Area): string[] =>
  [area, `${area}-3.0`].flatMap((name) => [`${name}.json`, `${name}.yaml`]);
