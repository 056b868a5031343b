import { readFileSync } from 'node:fs';
import { type Area, areas } from '../config/config.ts';

export { type Area, areas };

/** A JSON Schema of a document, with the extension words that the service reads itself. */
export type SchemaObject = {
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, SchemaObject>>;
  readonly items?: SchemaObject;
  readonly required?: readonly string[];
  readonly readOnly?: boolean;
  /** The message for a missing parameter or field; without it `<name> is required`. */
  readonly 'x-message-required'?: string;
  /** The problem code of that message. */
  readonly 'x-code-required'?: string;
  /** The form that `pattern` demands, in words that complete `<name> must be`. */
  readonly 'x-form'?: string;
  /** Fields of the resource that a request may contain and that are dropped unread. */
  readonly 'x-ignored-fields'?: readonly string[];
  readonly [word: string]: unknown;
};

export type ParameterObject = {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header' | 'cookie';
  readonly required?: boolean;
  /** False where a list is one text with commas. */
  readonly explode?: boolean;
  readonly schema?: SchemaObject;
};

export type OperationObject = {
  readonly operationId?: string;
  readonly parameters?: readonly ParameterObject[];
  readonly requestBody?: {
    readonly required?: boolean;
    readonly content: Readonly<Record<string, { readonly schema?: SchemaObject }>>;
  };
  readonly security?: readonly Readonly<Record<string, readonly string[]>>[];
  readonly responses?: Readonly<Record<string, unknown>>;
  /** The scope that a key needs, or several of which one is enough; `none` where any key will do. An operation without a key has no such word. */
  readonly 'x-required-scope'?: string | readonly string[];
  /** Whether it reads all rows of what it answers about, however small the answer is. */
  readonly 'x-reads-all'?: boolean;
};

/** An OpenAPI 3.1 document, bundled into one object; references inside it are not resolved. */
export type OpenApiDocument = {
  readonly openapi: string;
  readonly info: { readonly title: string; readonly version: string };
  readonly security?: OperationObject['security'];
  readonly paths: Readonly<Record<string, unknown>>;
  readonly components?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly [word: string]: unknown;
};

/** The base path under which each area's document is served. Paths of a document are relative to it. */
export const basePaths: Readonly<Record<Area, string>> = {
  blockchain: '/blockchain/v1/api',
  events: '/events/v1/api',
  rwa: '/v1/api',
  claim: '/claim/v1/api',
  news: '/news/v1/api',
};

/** The bundled documents, as `npm run contract` generates them. */
export const documents: Readonly<Record<Area, OpenApiDocument>> = {
  blockchain: read('blockchain'),
  events: read('events'),
  rwa: read('rwa'),
  claim: read('claim'),
  news: read('news'),
};

function read(area: Area): OpenApiDocument {
  const file = new URL(`./generated/${area}.json`, import.meta.url);
  return JSON.parse(readFileSync(file, 'utf8')) as OpenApiDocument; // the bundle is linted when it is made
}
