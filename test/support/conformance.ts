import { appendFileSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';

/** What an answer of the service looks like to these checks. */
export type Answer = {
  readonly method: string;
  /** Path of the request, with or without a query. */
  readonly path: string;
  readonly status: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly text: string;
};

/** A node of a document; leaves are read through String(). */
type Json = { readonly [key: string]: Json };
type Operation = {
  readonly area: string;
  readonly id: string;
  readonly node: Json;
  readonly pattern: RegExp;
};

const bases = { blockchain: '/blockchain/v1/api', events: '/events/v1/api', rwa: '/v1/api' } as const;
const methods = ['get', 'put', 'post', 'delete', 'patch', 'head', 'options'];

/**
 * Holds any answer of the service against the documents: the status is documented, the content type, the
 * body and the headers are as the document says, problem bodies included. Throws an error that names all
 * differences. Each documented (operation, status) that was seen is noted in the coverage file.
 */
export function createConformance({ coverageFile }: { coverageFile?: string | undefined } = {}) {
  const ajv = new Ajv2020({ strict: false, allErrors: true, validateSchema: false, validateFormats: true });
  addFormats.default(ajv);
  const documents = new Map(Object.keys(bases).map((area) => [area, readDocument(area)]));
  for (const [area, document] of documents) ajv.addSchema(document, `${area}.json`);
  const operations = [...documents].flatMap(([area, document]) => operationsOf(area, document));
  const validators = new Map<string, ValidateFunction>();
  const noted = new Set<string>();

  const validator = (pointer: string) => {
    const known = validators.get(pointer) ?? ajv.compile({ $ref: pointer });
    validators.set(pointer, known);
    return known;
  };

  const note = (line: string) => {
    if (coverageFile === undefined || noted.has(line)) return;
    noted.add(line);
    appendFileSync(coverageFile, `${line}\n`);
  };

  const faultsOf = (answer: Answer): string[] => {
    const path = answer.path.split('?')[0] ?? '';
    const operation = operations.find(
      ({ node, pattern }) => pattern.test(path) && String(node['x-method']) === answer.method.toLowerCase(),
    );
    if (operation === undefined) return faultsOfUnrouted(answer, validator);
    const faults = faultsOfOperation(
      answer,
      operation,
      documents.get(operation.area) ?? ({} as Json),
      validator,
    );
    if (faults.length === 0) note(`${operation.id} ${answer.status}`);
    return faults;
  };

  return {
    /** Every documented pair, as `operationId status`. */
    documented: operations.flatMap(({ id, node }) =>
      Object.keys(node['responses'] ?? {}).map((status) => `${id} ${status}`),
    ),
    check(answer: Answer): void {
      const faults = faultsOf(answer);
      if (faults.length === 0) return;
      const about = `${answer.method.toUpperCase()} ${answer.path} answered ${answer.status}`;
      throw new Error(
        `${about}, which is not as documented:\n- ${faults.join('\n- ')}\n${answer.text.slice(0, 2_000)}`,
      );
    },
  };
}

function readDocument(area: string): Json {
  const file = fileURLToPath(new URL(`../../src/contract/generated/${area}.json`, import.meta.url));
  return JSON.parse(readFileSync(file, 'utf8'));
}

function operationsOf(area: string, document: Json): Operation[] {
  const base = bases[area as keyof typeof bases]; // areas are the keys of bases
  return Object.entries(document['paths'] ?? {})
    .flatMap(([template, item]) =>
      methods.flatMap((method) => {
        const node = item[method];
        if (node === undefined) return [];
        const source = `${base}${template}`.replace(/\{[^}]+\}/g, '[^/]+').replaceAll('.', '\\.');
        const withMethod = { ...node, 'x-method': method } as unknown as Json; // a word of our own beside the document's
        return [
          { area, id: String(node['operationId']), node: withMethod, pattern: new RegExp(`^${source}$`) },
        ];
      }),
    )
    .sort((a, b) => Number(a.pattern.source.includes('[^/]+')) - Number(b.pattern.source.includes('[^/]+')));
}

function follow(document: Json, node: Json): { node: Json; pointer: string | undefined } {
  if (node['$ref'] === undefined) return { node, pointer: undefined };
  const reference = String(node['$ref']);
  const target = reference
    .slice(2)
    .split('/')
    .reduce<Json | undefined>((at, part) => at?.[part], document);
  if (target === undefined) throw new Error(`${reference} leads nowhere`);
  return { node: target, pointer: reference };
}

function faultsOfOperation(
  answer: Answer,
  operation: Operation,
  document: Json,
  validator: (pointer: string) => ValidateFunction,
): string[] {
  const responses = operation.node['responses'] ?? ({} as Json);
  const documented = responses[String(answer.status)];
  if (documented === undefined) return [`status ${answer.status} is not documented for ${operation.id}`];
  const { node: response, pointer } = follow(document, documented);
  const root = `${operation.area}.json`;
  const place =
    pointer ??
    `#/paths/${escaped(pathOf(document, operation))}/${operation.node['x-method']}/responses/${answer.status}`;
  return [
    ...faultsOfHeaders(
      answer,
      response,
      document,
      (at) => validator(`${root}${place}/headers/${at}/schema`),
      root,
      validator,
    ),
    ...faultsOfBody(answer, response, (mediaType) =>
      validator(`${root}${place}/content/${escaped(mediaType)}/schema`),
    ),
  ];
}

function pathOf(document: Json, operation: Operation): string {
  const method = String(operation.node['x-method']);
  const found = Object.entries(document['paths'] ?? {}).find(
    ([, item]) => String(item[method]?.['operationId']) === operation.id,
  );
  return found?.[0] ?? '';
}

function faultsOfBody(
  answer: Answer,
  response: Json,
  validatorOf: (mediaType: string) => ValidateFunction,
): string[] {
  const content = response['content'];
  if (content === undefined) return answer.text === '' ? [] : ['a body where the document has none'];
  const mediaType = (answer.headers['content-type'] ?? '').split(';')[0]?.trim() ?? '';
  if (content[mediaType] === undefined) return [`content type ${mediaType || '(none)'} is not documented`];
  let body: unknown;
  try {
    body = JSON.parse(answer.text);
  } catch {
    return ['the body is no JSON'];
  }
  return told(validatorOf(mediaType), body, 'body');
}

function faultsOfHeaders(
  answer: Answer,
  response: Json,
  document: Json,
  inline: (name: string) => ValidateFunction,
  root: string,
  validator: (pointer: string) => ValidateFunction,
): string[] {
  return Object.entries(response['headers'] ?? {}).flatMap(([name, header]) => {
    const { node, pointer } = follow(document, header);
    const value = answer.headers[name.toLowerCase()];
    if (value === undefined) return String(node['required']) === 'true' ? [`header ${name} is missing`] : [];
    const validate = pointer === undefined ? inline(name) : validator(`${root}${pointer}/schema`);
    const type = String(follow(document, node['schema'] ?? ({} as Json)).node['type'] ?? 'string');
    return told(validate, type === 'integer' || type === 'number' ? Number(value) : value, `header ${name}`);
  });
}

/** 404 without a route, and 405, belong to no operation; they are problems all the same. */
function faultsOfUnrouted(answer: Answer, validator: (pointer: string) => ValidateFunction): string[] {
  if (![400, 404, 405].includes(answer.status)) return [`no operation is documented here`];
  if (answer.status === 405 && !answer.headers['allow']) return ['header Allow is missing'];
  if (answer.method.toUpperCase() === 'HEAD') return [];
  if (!answer.headers['content-type']?.startsWith('application/problem+json'))
    return ['the body is no problem'];
  return told(validator('events.json#/components/schemas/Problem'), JSON.parse(answer.text), 'body');
}

function told(validate: ValidateFunction, value: unknown, what: string): string[] {
  if (validate(value)) return [];
  return (validate.errors ?? []).map((error) => `${what}${error.instancePath} ${error.message}`);
}

const escaped = (part: string) => encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1'));
