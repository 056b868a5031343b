import type { ErrorObject } from 'ajv/dist/2020.js';
import type { InputError } from '../../contract/problem.ts';
import { catalogue, type ProblemCode, type ProblemError, problem } from '../../errors.ts';
import type { InputPlan } from './input-plan.ts';
import { describeFault } from './messages.ts';
import { escapePointer, fieldName } from './text-safety.ts';

type Fault = InputError & { readonly isMissing: boolean };

const places = ['path', 'query', 'header', 'body'] as const;

// A body can be wrong in thousands of places; nobody reads more than these.
const maxErrors = 50;

// The messages that have a code of their own: those of required fields in the documents.
const codesOfMissing = new Map<string, ProblemCode>(
  (['address_required', 'network_id_required', 'attendee_id_required', 'secret_required'] as const).map(
    (code) => [catalogue[code].detail, code],
  ),
);

/**
 * Makes the one 400 of a request from everything that is wrong with its input. The first fault is its
 * detail: missing before malformed, then path, query, header, body, then the document's order.
 */
export function inputProblem(
  plan: InputPlan,
  faults: readonly InputError[],
  schemaErrors: readonly ErrorObject[],
): ProblemError {
  // A value that could not be read was left out, so the schema misses it.
  const unread = new Set(faults.map(placeOf));
  const found: Fault[] = [
    ...schemaErrors
      // The library parses a text a second time as JSON; that it is no object is an error of its own.
      .filter(({ keyword }) => keyword !== 'parse')
      .slice(0, 10 * maxErrors)
      .map((error) => fromSchema(plan, error))
      .filter((fault) => !(fault.isMissing && unread.has(placeOf(fault)))),
    ...faults.map((fault) => ({ ...fault, isMissing: false })),
  ];
  const ranked = found
    .map((fault) => ({ fault, rank: rankOf(plan, fault) }))
    .sort((a, b) => a.rank - b.rank)
    .map(({ fault }) => fault);
  const seen = new Set<string>();
  const errors: InputError[] = [];
  for (const { isMissing: _, ...error } of ranked) {
    const place = placeOf(error);
    if (seen.has(place) || errors.length === maxErrors) continue;
    seen.add(place);
    errors.push(error);
  }
  const detail = errors[0]?.message ?? catalogue.input_invalid.detail;
  const code = codesOfMissing.get(detail) ?? 'input_invalid';
  return problem(code, {}, { errors, detail });
}

function placeOf(error: InputError): string {
  return `${error.in} ${error.name ?? error.pointer}`;
}

function fromSchema(plan: InputPlan, error: ErrorObject): Fault {
  const [, root = '', ...rest] = error.instancePath.split('/');
  const isMissing = error.keyword === 'required';
  const added = addedName(error);
  if (root === 'requestBody' || (root === '' && added === 'requestBody')) {
    const inner = root === '' ? [] : [...rest, ...(added === undefined ? [] : [escapePointer(added)])];
    const pointer = inner.map((part) => `/${part}`).join('');
    const own = isMissing && inner.length === 1 ? plan.body?.requiredMessages.get(inner[0] ?? '') : undefined;
    return { in: 'body', pointer, message: own ?? describeFault(fieldName(pointer), error), isMissing };
  }
  const key = added ?? rest[0] ?? '';
  const place = places.find((item) => item === root) ?? 'query';
  const parameter = plan.parameters.find((item) => item.in === place && item.key === key);
  const name = parameter?.name ?? key;
  const own = isMissing ? parameter?.requiredMessage : undefined;
  return { in: place, name, message: own ?? describeFault(name, error), isMissing };
}

/** The name that an error is about when the error stands at the object around it. */
function addedName({ keyword, params }: ErrorObject): string | undefined {
  const name: unknown =
    keyword === 'required'
      ? params['missingProperty']
      : (params['additionalProperty'] ?? params['unevaluatedProperty']);
  return typeof name === 'string' ? name : undefined;
}

function rankOf(plan: InputPlan, fault: Fault): number {
  const order =
    fault.in === 'body'
      ? (plan.body?.fields.indexOf(fault.pointer?.split('/')[1] ?? '') ?? -1)
      : plan.parameters.findIndex((item) => item.in === fault.in && item.name === fault.name);
  // Whatever the document does not know comes after what it does.
  const within = order === -1 ? 9_999 : order;
  return (fault.isMissing ? 0 : 1_000_000) + places.indexOf(fault.in) * 10_000 + within;
}
