import { isDeepStrictEqual } from 'node:util';
import type { Answer } from '../../support/conformance.ts';
import { type DocumentedOperation, documentedOperations, documentOf, type Json } from '../documented.ts';
import type { Facts } from '../facts.ts';
import { type OperationId, rows } from '../operations.ts';
import { detailOf, type Session } from '../session.ts';
import { anyOperation } from './any-operation.ts';
import { blockchainCases } from './blockchain.ts';
import { isPossible, type Provoke, type Trial } from './case.ts';
import { claimCases } from './claim.ts';
import { eventCases } from './events.ts';
import { newsCases } from './news.ts';
import { sendExample } from './request-examples.ts';
import { rwaCases } from './rwa.ts';

/** One documented answer, and how to provoke it. */
export type ContractCase = {
  readonly area: DocumentedOperation['area'];
  readonly operation: string;
  readonly status: number;
  /** The name of the documented example, or what else is tried. */
  readonly example: string;
  /** Whether a request from outside can bring it about, on some deployment. */
  readonly isPossible: boolean;
  /** Rejects when the deployment does not answer as documented; with Unprovoked when it cannot be tried. */
  run(session: Session, facts: Facts): Promise<void>;
};

const specific = { ...blockchainCases, ...eventCases, ...rwaCases, ...claimCases, ...newsCases };

/** Every example of every documented status of every operation, every example of a body, and other methods. */
export const contractCases: readonly ContractCase[] = documentedOperations.flatMap((operation) => [
  ...operation.responses.flatMap(({ status, examples }) =>
    (examples.length === 0 ? [String(status)] : examples).map((name) =>
      caseOf(operation, status, name, provocationOf(operation.id, name), exampleOf(operation, name)),
    ),
  ),
  ...Object.entries(operation.body?.examples ?? {}).map(([name, example]) =>
    caseOf(operation, successOf(operation), `body ${name}`, sendExample(example)),
  ),
  ...(isFirstOfPath(operation) ? [caseOf(operation, 405, 'other method', otherMethod)] : []),
]);

function caseOf(
  operation: DocumentedOperation,
  status: number,
  example: string,
  provoke: Provoke,
  documented?: Json,
): ContractCase {
  const id = operation.id as OperationId; // a row for every operation is compiled and tested
  return {
    area: operation.area,
    operation: id,
    status,
    example,
    isPossible: isPossible(provoke),
    async run(session, facts) {
      const answer = await provoke({ session, facts, operation, id, row: rows[id] });
      if (answer.status !== status)
        throw new Error(`answered ${answer.status} instead of ${status}: ${detailOf(answer)}`);
      if (status >= 400 && documented !== undefined) assertSameProblem(answer, documented);
    },
  };
}

function provocationOf(id: string, name: string): Provoke {
  const provoke = specific[`${id} ${name}`] ?? specific[name] ?? anyOperation[name];
  if (provoke === undefined) throw new Error(`nobody knows how to provoke ${name} of ${id}`);
  return provoke;
}

function exampleOf({ area, requiredScopes }: DocumentedOperation, name: string): Json | undefined {
  const example = documentOf(area)['components']?.['examples']?.[name]?.['value'];
  if (example === undefined || name !== 'insufficient_scope') return example;
  // All operations share the example, but each names its own scope.
  return JSON.parse(JSON.stringify(example).replace('events:read', requiredScopes.join(' or ')));
}

function successOf({ responses }: DocumentedOperation): number {
  return responses.find(({ status }) => status < 300)?.status ?? 200;
}

/** A problem is the documented one, word for word, but for the id of the request. */
function assertSameProblem({ text }: Answer, documented: Json): void {
  const { requestId: _own, ...answered } = JSON.parse(text);
  const { requestId: _example, ...expected } = documented;
  if (isDeepStrictEqual(answered, expected)) return;
  throw new Error(`answered ${JSON.stringify(answered)} instead of ${JSON.stringify(expected)}`);
}

function isFirstOfPath(operation: DocumentedOperation): boolean {
  return documentedOperations.find(({ template }) => template === operation.template) === operation;
}

function otherMethod({ session, id, operation }: Trial): Promise<Answer> {
  return session.call(id, {
    method: 'put',
    path: operation.template.replaceAll(/\{[^}]+\}/g, 'x'),
    body: null,
  });
}
