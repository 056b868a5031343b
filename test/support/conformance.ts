import { appendFileSync } from 'node:fs';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { type Area, areas } from '../../src/contract/documents.ts';
import {
  type DocumentedOperation,
  type DocumentedResponse,
  documentedOperations,
  documentOf,
  escapePointer,
  follow,
  type Json,
} from '../contract/documented.ts';

/** The parts of an HTTP answer that the checks read. */
export type Answer = {
  readonly method: string;
  /** Path of the request with the base path of its area, with or without a query. */
  readonly path: string;
  readonly status: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly text: string;
};

type Validators = (pointer: string) => ValidateFunction;

const problemType = 'application/problem+json';

/**
 * Checks answers of the service against the documents: status, content type, body and headers, problem bodies
 * included. Appends each documented (operation, status) that occurs to the coverage file.
 */
export function createConformance({ coverageFile }: { coverageFile?: string | undefined } = {}) {
  const noted = new Set<string>();

  const note = (line: string) => {
    if (coverageFile === undefined || noted.has(line)) return;
    noted.add(line);
    appendFileSync(coverageFile, `${line}\n`);
  };

  /** Lists every difference between an answer and the documents. */
  const faultsOf = (answer: Answer): string[] => {
    const path = answer.path.split('?')[0] ?? '';
    // A path without parameters wins over a template that fits it too.
    const template = documentedOperations.find(({ pattern }) => pattern.test(path))?.template;
    const routed = documentedOperations.filter((each) => each.template === template);
    const asked = answer.method.toLowerCase();
    // What can be read answers HEAD as it does GET, without the body.
    const operation = routed.find(({ method }) => method === (asked === 'head' ? 'get' : asked));
    if (operation === undefined) return faultsOfUnrouted(answer, routed, validator);
    if (asked === 'head') return faultsOfHead(answer, operation, validator);
    const faults = faultsOfOperation(answer, operation, validator);
    if (faults.length === 0) note(`${operation.id} ${answer.status}`);
    return faults;
  };

  return {
    faultsOf,
    /** Throws an error that names all differences. */
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

// Of all services of a run: the documents do not change.
const validator = createValidators();

function createValidators(): Validators {
  const ajv = new Ajv2020({ strict: false, allErrors: true, validateSchema: false, validateFormats: true });
  addFormats.default(ajv);
  for (const area of areas) ajv.addSchema(documentOf(area), `${area}.json`);
  const compiled = new Map<string, ValidateFunction>();
  return (pointer) => {
    const known = compiled.get(pointer) ?? ajv.compile({ $ref: pointer });
    compiled.set(pointer, known);
    return known;
  };
}

function faultsOfHead(answer: Answer, operation: DocumentedOperation, validator: Validators): string[] {
  const response = operation.responses.find(({ status }) => status === answer.status);
  if (response === undefined) return [`status ${answer.status} is not documented for ${operation.id}`];
  const faults = faultsOfHeaders(answer, operation.area, response, validator);
  return answer.text === '' ? faults : [...faults, 'a body for HEAD'];
}

function faultsOfOperation(answer: Answer, operation: DocumentedOperation, validator: Validators): string[] {
  const response = operation.responses.find(({ status }) => status === answer.status);
  if (response === undefined) return [`status ${answer.status} is not documented for ${operation.id}`];
  return [
    ...faultsOfHeaders(answer, operation.area, response, validator),
    ...faultsOfBody(answer, response.node, (mediaType) =>
      validator(`${operation.area}.json${response.pointer}/content/${escapePointer(mediaType)}/schema`),
    ),
  ];
}

function faultsOfBody(
  answer: Answer,
  response: Json,
  validatorOf: (mediaType: string) => ValidateFunction,
): string[] {
  const content = response['content'];
  if (content === undefined) return answer.text === '' ? [] : ['a body where the document has none'];
  const mediaType = mediaTypeOf(answer);
  // Files are no media type of the contents: generators would make unions of all answers.
  if (
    Object.values(response['x-also-as'] ?? {})
      .map(String)
      .includes(mediaType)
  )
    return [];
  if (content[mediaType] === undefined) return [`content type ${mediaType || '(none)'} is not documented`];
  const body = parse(answer.text);
  if (body === undefined) return ['the body is no JSON'];
  return [
    ...told(validatorOf(mediaType), body, 'body'),
    ...(mediaType === problemType ? faultsOfProblem(answer, body) : []),
  ];
}

/** A problem body repeats the status and the request id of its answer. */
function faultsOfProblem({ status, headers }: Answer, body: unknown): string[] {
  const problem = body as Readonly<Record<string, unknown>>; // its schema is checked beside this
  const faults: string[] = [];
  if (problem['status'] !== status)
    faults.push(`body/status is ${problem['status']}, the answer's is ${status}`);
  if (problem['requestId'] !== headers['x-request-id']) faults.push('body/requestId is not X-Request-Id');
  return faults;
}

function faultsOfHeaders(
  answer: Answer,
  area: Area,
  response: DocumentedResponse,
  validator: Validators,
): string[] {
  const document = documentOf(area);
  return Object.entries(response.node['headers'] ?? {}).flatMap(([name, header]) => {
    const { node, pointer } = follow(document, header);
    const value = answer.headers[name.toLowerCase()];
    if (value === undefined) return String(node['required']) === 'true' ? [`header ${name} is missing`] : [];
    const validate = validator(`${area}.json${pointer ?? `${response.pointer}/headers/${name}`}/schema`);
    const type = String(follow(document, node['schema'] ?? {}).node['type'] ?? 'string');
    return told(validate, type === 'integer' || type === 'number' ? Number(value) : value, `header ${name}`);
  });
}

/** A 404 without a route and a 405 belong to no operation, but their bodies must be problems too. */
function faultsOfUnrouted(
  answer: Answer,
  routed: readonly DocumentedOperation[],
  validator: Validators,
): string[] {
  if (![400, 404, 405].includes(answer.status)) return ['no operation is documented here'];
  if (answer.status === 405) {
    const methods = routed.map(({ method }) => method.toUpperCase());
    // What can be read can be asked for by HEAD, which no document lists.
    const documented = [...methods, ...(methods.includes('GET') ? ['HEAD'] : [])].toSorted();
    const allowed = (answer.headers['allow'] ?? '').split(', ').toSorted();
    if (documented.join() !== allowed.join())
      return [`header Allow is ${answer.headers['allow']}, not ${documented.join(', ')}`];
  }
  if (answer.method.toUpperCase() === 'HEAD') return answer.text === '' ? [] : ['a body for HEAD'];
  if (mediaTypeOf(answer) !== problemType) return ['the body is no problem'];
  const body = parse(answer.text);
  return [
    ...told(validator('events.json#/components/schemas/Problem'), body, 'body'),
    ...faultsOfProblem(answer, body),
  ];
}

function mediaTypeOf({ headers }: Answer): string {
  return (headers['content-type'] ?? '').split(';')[0]?.trim() ?? '';
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function told(validate: ValidateFunction, value: unknown, what: string): string[] {
  if (validate(value)) return [];
  return (validate.errors ?? []).map((error) => `${what}${error.instancePath} ${error.message}`);
}
