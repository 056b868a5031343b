import type { IncomingHttpHeaders } from 'node:http';
import type { InputError } from '../../base/problem.ts';
import type { BodyPlan, InputPlan, ParameterPlan } from './input-plan.ts';
import { compilePathReader } from './path-template.ts';
import { type ParsedQuery, parseQuery } from './query.ts';
import { findUnsafeText, findUnsafeValues } from './text-safety.ts';

type Values = Record<string, unknown>;

const listHeaders = new Set(['if-match', 'if-none-match']);

/**
 * A request in the form that openapi-backend routes and validates. Dispatch creates it without input and fills the
 * input in after the key is verified, so that nothing is parsed earlier or twice.
 */
export type ApiRequest = {
  readonly method: string;
  /** Relative to the document's base path, without query, still percent-encoded. */
  readonly path: string;
  readonly rawQuery: string;
  readonly rawHeaders: IncomingHttpHeaders;
  /** How often a header was sent, by its lower-case name. */
  readonly timesSent: (header: string) => number;
  headers: Record<string, string>;
  query: Values;
  params: Values;
  readonly cookies: Values;
  body: unknown;
  requestBody: unknown;
  /** Faults that no schema finds: repeated parameters, invalid encodings, unsafe texts. */
  faults: InputError[];
  isPathMalformed: boolean;
};

export function createApiRequest(
  from: Pick<ApiRequest, 'method' | 'path' | 'rawQuery' | 'rawHeaders' | 'timesSent'>,
): ApiRequest {
  const { method, path, rawQuery, rawHeaders, timesSent } = from;
  return {
    method,
    path,
    rawQuery,
    rawHeaders,
    timesSent,
    headers: {},
    query: {},
    params: {},
    cookies: {},
    body: undefined,
    requestBody: undefined,
    faults: [],
    isPathMalformed: false,
  };
}

/**
 * Compiles the step that fills parameters and body of one operation into a request. It decodes and coerces texts; an
 * empty parameter or required field counts as missing. It returns whether to validate what it filled in.
 */
export function compileInputReader(plan: InputPlan, template: string) {
  const readPath = compilePathReader(template);
  const byPlace = (place: ParameterPlan['in']) => plan.parameters.filter((item) => item.in === place);
  const inPath = byPlace('path');
  const inQuery = byPlace('query');
  const inHeader = byPlace('header');

  return (request: ApiRequest, body: unknown): boolean => {
    const query = parseQuery(request.rawQuery);
    request.params = pathValues(request, readPath(request.path), inPath);
    request.query = queryValues(request, query, inQuery);
    request.headers = headerValues(request, inHeader);
    if (plan.body === undefined) return true;
    const { faults, isTooMuch } = findUnsafeValues(body);
    request.faults.push(...faults);
    if (isTooMuch) return false;
    request.body = readFields(body ?? (plan.body.required ? {} : undefined), plan.body);
    request.requestBody = request.body;
    // The library validates non-object bodies only under this type. The body reader has rejected every other type.
    request.headers['content-type'] = 'application/json';
    return true;
  };
}

function pathValues(request: ApiRequest, raw: ReadonlyMap<string, string>, plans: readonly ParameterPlan[]) {
  const values: Values = Object.create(null);
  for (const plan of plans) {
    try {
      values[plan.name] = coerce(request, plan, decodeURIComponent(raw.get(plan.name) ?? ''));
    } catch {
      // Without the value the validator misses it, so the request is rejected.
      request.isPathMalformed = true;
    }
  }
  return values;
}

function queryValues(request: ApiRequest, query: ParsedQuery, plans: readonly ParameterPlan[]): Values {
  const values: Values = Object.create(null);
  const refuse = (name: string, what: string) => {
    request.faults.push({ in: 'query', name, message: `${shortName(name)} ${what}` });
  };
  for (const name of query.malformed) refuse(name, 'has an invalid percent-encoding');
  for (const name of query.repeated) refuse(name, 'must be given only once');
  for (const [name, text] of query.values) {
    const plan = plans.find((item) => item.name === name);
    if (plan === undefined) values[name] = text;
    else if (text !== '') values[name] = coerce(request, plan, text);
  }
  return values;
}

function headerValues(request: ApiRequest, plans: readonly ParameterPlan[]): Record<string, string> {
  const values: Record<string, string> = {};
  for (const { key, name } of plans) {
    const value = request.rawHeaders[key];
    // Only set-cookie is ever an array.
    if (typeof value !== 'string') continue;
    values[key] = value;
    // Node joins repeated headers by commas, which is right for lists only.
    const isJoined = value.includes(',') && !listHeaders.has(key) && request.timesSent(key) > 1;
    if (isJoined) request.faults.push({ in: 'header', name, message: `${name} must be given only once` });
  }
  return values;
}

/**
 * Converts a text to the type of its parameter. A list is texts with commas between. UUIDs become lower case, as the
 * database writes them. A text of another form stays a text, which the validator rejects.
 */
function coerce(request: ApiRequest, plan: ParameterPlan, text: string): unknown {
  const fault = findUnsafeText(text);
  if (fault !== undefined) {
    request.faults.push({ in: plan.in, name: plan.name, message: `${plan.name} ${fault}` });
  }
  // Adding 0 turns -0 into 0.
  if (plan.as === 'integer') return /^-?\d+$/.test(text) ? Number(text) + 0 : text;
  if (plan.as === 'number') return /^-?\d+(\.\d+)?$/.test(text) ? Number(text) + 0 : text;
  if (plan.as === 'list') return text.split(',');
  if (plan.as === 'uuid') return text.toLowerCase();
  if (plan.as === 'boolean') return text === 'true' ? true : text === 'false' ? false : text;
  return text;
}

/**
 * Removes required fields that are null or empty, so that the validator reports them as missing, and fields that are
 * ignored.
 */
function readFields(body: unknown, { requiredFields, ignoredFields }: BodyPlan): unknown {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return body;
  const fields = body as Values; // a JSON object
  const isLeftOut = (name: string) =>
    ignoredFields.includes(name) ||
    (requiredFields.includes(name) && (fields[name] === null || fields[name] === ''));
  if (!Object.keys(fields).some(isLeftOut)) return body;
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !isLeftOut(name)));
}

/** Cuts a name from the caller to 100 characters, for use in a message. */
export function shortName(name: string): string {
  return name.length > 100 ? `${name.slice(0, 100)}…` : name;
}
