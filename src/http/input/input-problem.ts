import type { ErrorObject } from 'ajv/dist/2020.js';
import { catalogue, type FixedCode, type ProblemError, problem } from '../../base/errors.ts';
import type { InputError } from '../../base/problem.ts';
import type { InputPlan } from './input-plan.ts';
import { anyText, describeFault } from './messages.ts';
import { escapePointer, fieldName } from './text-safety.ts';

type Fault = {
  readonly error: InputError;
  readonly isMissing: boolean;
  /** The code of the problem when this fault comes first. */
  readonly code: FixedCode;
};

const places = ['path', 'query', 'header', 'body'] as const;

// A body can be wrong in thousands of places; nobody reads more than these.
const maxErrors = 50;

/**
 * Makes the single 400 of a request from everything that is wrong with its input. The first fault gives the
 * detail and the code. Faults are ordered: missing before malformed, then path, query, header, body, then the
 * document's order.
 */
export function inputProblem(
  plan: InputPlan,
  faults: readonly InputError[],
  schemaErrors: readonly ErrorObject[],
): ProblemError {
  // A value that could not be read was left out, so the schema reports it as missing.
  const unread = new Set(faults.map(placeOf));
  const found: Fault[] = [
    ...schemaErrors
      // The library parses a string body a second time as JSON and reports that as an error of its own.
      .filter(({ keyword, params }) => keyword !== 'parse' && params['pattern'] !== anyText)
      .slice(0, 10 * maxErrors)
      .map((error) => fromSchema(plan, error))
      .filter((fault) => !(fault.isMissing && unread.has(placeOf(fault.error)))),
    ...faults.map((error): Fault => ({ error, isMissing: false, code: 'input_invalid' })),
  ];
  const ranked = found
    .map((fault) => ({ fault, rank: rankOf(plan, fault) }))
    .sort((a, b) => a.rank - b.rank)
    .map(({ fault }) => fault);
  const errors = firstOfEachPlace(ranked.map(({ error }) => error));
  const detail = errors[0]?.message ?? catalogue.input_invalid.detail;
  const code = ranked[0]?.code ?? 'input_invalid';
  return problem(code, {}, { errors, detail });
}

function firstOfEachPlace(errors: readonly InputError[]): InputError[] {
  const byPlace = new Map<string, InputError>();
  for (const error of errors) {
    const place = placeOf(error);
    if (byPlace.size < maxErrors && !byPlace.has(place)) byPlace.set(place, error);
  }
  return [...byPlace.values()];
}

function placeOf(error: InputError): string {
  return `${error.in} ${error.name ?? error.pointer}`;
}

function fromSchema(plan: InputPlan, error: ErrorObject): Fault {
  const [, root = '', ...rest] = error.instancePath.split('/');
  const name = namedProperty(error);
  if (root === 'requestBody')
    return bodyFault(plan, error, name === undefined ? rest : [...rest, escapePointer(name)]);
  if (root === '' && name === 'requestBody') return bodyFault(plan, error, []);
  return parameterFault(plan, error, root, name ?? rest[0] ?? '');
}

/** @param path the escaped parts of the JSON pointer to the field */
function bodyFault(plan: InputPlan, error: ErrorObject, path: readonly string[]): Fault {
  const [field = '', ...inner] = path;
  const pointer = path.map((part) => `/${part}`).join('');
  const isMissing = error.keyword === 'required';
  const missing = isMissing && inner.length === 0 ? plan.body?.whenMissing.get(field) : undefined;
  const message = missing?.message ?? describeFault(fieldName(pointer), error);
  return { error: { in: 'body', pointer, message }, isMissing, code: missing?.code ?? 'input_invalid' };
}

function parameterFault(plan: InputPlan, error: ErrorObject, root: string, key: string): Fault {
  const place = places.find((item) => item === root) ?? 'query';
  const parameter = plan.parameters.find((item) => item.in === place && item.key === key);
  const name = parameter?.name ?? key;
  const isMissing = error.keyword === 'required';
  const missing = isMissing ? parameter?.whenMissing : undefined;
  const message = missing?.message ?? describeFault(name, error);
  return { error: { in: place, name, message }, isMissing, code: missing?.code ?? 'input_invalid' };
}

/** The name of the missing or unknown property when Ajv reports the error at the object around it. */
function namedProperty({ keyword, params }: ErrorObject): string | undefined {
  const name: unknown =
    keyword === 'required'
      ? params['missingProperty']
      : (params['additionalProperty'] ?? params['unevaluatedProperty']);
  return typeof name === 'string' ? name : undefined;
}

/** The smaller the number, the earlier the fault is reported. */
function rankOf(plan: InputPlan, { error, isMissing }: Fault): number {
  const order =
    error.in === 'body'
      ? (plan.body?.fields.indexOf(error.pointer?.split('/')[1] ?? '') ?? -1)
      : plan.parameters.findIndex((item) => item.in === error.in && item.name === error.name);
  // Input that the document does not know comes after input that it knows.
  const within = order === -1 ? 9_999 : order;
  return (isMissing ? 0 : 1_000_000) + places.indexOf(error.in) * 10_000 + within;
}
