import type { Content, Operation } from '../contract.ts';

/** One call of an operation, as its documented examples have it. */
export type Call = {
  readonly method: string;
  /** Behind the host, with its parameters filled in. */
  readonly path: string;
  readonly query: readonly (readonly [name: string, value: string])[];
  /** The JSON body; undefined where there is none. */
  readonly body: unknown;
  /** Without it the operation is public. */
  readonly key: boolean;
  /** It takes an `Idempotency-Key`, and each call needs a new key. */
  readonly idempotent: boolean;
  /** The first status that the operation documents, a success where it has one. */
  readonly status: number;
  /** The documented answer to that status; undefined where it has no body. */
  readonly answer: unknown;
};

/** An example of a body: the name in the document, what it is called there, and the body. */
export type BodyExample = { readonly name: string; readonly label: string; readonly value: unknown };

function examplesOf(content: Content | undefined): BodyExample[] {
  const [media] = Object.values(content ?? {});
  return Object.entries(media?.examples ?? {}).map(([name, { summary, value }]) => ({
    name,
    label: summary ?? name,
    value,
  }));
}

/** The bodies that an operation may be sent, as the document shows them; none where it takes no body. */
export const bodiesOf = ({ requestBody }: Operation): BodyExample[] => examplesOf(requestBody?.content);

/** A success, or else the one thing that an operation without a success is there to say: that it is gone. */
function mainStatus({ responses }: Operation): string {
  const statuses = Object.keys(responses);
  return statuses.find((status) => status.startsWith('2')) ?? '410';
}

/**
 * The call of an operation with its needs and nothing else, made from its examples.
 * @param example of its body; the first that the document shows if left out
 */
export function callOf(operation: Operation, example = bodiesOf(operation)[0]): Call {
  const { method, fullPath, parameters, security, responses } = operation;
  const path = parameters
    .filter((parameter) => parameter.in === 'path')
    .reduce(
      (filled, { name, example }) => filled.replace(`{${name}}`, encodeURIComponent(String(example))),
      fullPath,
    );
  const query = parameters
    .filter((parameter) => parameter.in === 'query' && parameter.required)
    .map(({ name, example }) => [name, String(example)] as const);
  const status = mainStatus(operation);
  return {
    method,
    path,
    query,
    body: example?.value,
    key: security?.length !== 0,
    idempotent: parameters.some(({ name }) => name === 'Idempotency-Key'),
    status: Number(status),
    answer: examplesOf(responses[status]?.content)[0]?.value,
  };
}
