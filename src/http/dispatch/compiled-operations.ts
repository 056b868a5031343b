import type { ErrorObject, ValidateFunction } from 'ajv/dist/2020.js';
import type { OpenAPIBackend } from 'openapi-backend';
import type { Logger } from '../../base/log.ts';
import type { OperationObject } from '../../contract/documents.ts';
import { type ApiRequest, compileInputReader } from '../input/api-request.ts';
import { compileMatcher, type Match, type Routed } from './matcher.ts';
import { type OperationPlan, planOperation } from './operation-plan.ts';

/** An operation of a document with everything that can be computed before the first request. */
export type CompiledOperation = Routed & {
  readonly plan: OperationPlan;
  readonly readInput: ReturnType<typeof compileInputReader>;
  /** What the document's schemas do not allow in a request whose input is read. */
  readonly findErrors: (request: ApiRequest) => readonly ErrorObject[];
};

/**
 * Compiles what the library finds and copies for every request: its operations. Their validators are compiled by the
 * first request that needs them; see {@link compileLater}.
 * @param api initialised, so that references are resolved
 * @throws Error when the document uses something that dispatch does not enforce exactly
 */
export function compileOperations({ router, validator }: OpenAPIBackend): readonly CompiledOperation[] {
  return router.getOperations().map((operation: Routed) => {
    const { method, path } = operation;
    const plan = planOperation(operation as Routed & OperationObject); // the library adds method and path
    // The library keeps what it has compiled.
    const validators = () => validator.getRequestValidatorsForOperation(plan.operationId) ?? [];
    const readInput = compileInputReader(plan, path);
    return { method, path, plan, readInput, findErrors: validateBy(validators) };
  });
}

// By then a process that starts is ready.
const laterMs = 1_000;

/**
 * Compiles the validators that no request has needed until then, an operation in each round of the event loop: all at once
 * they would take a fifth of a start. One whose schemas cannot be compiled handles no request.
 */
export function compileLater({ router, validator }: OpenAPIBackend, log: Logger): void {
  const left: (string | undefined)[] = router.getOperations().map(({ operationId }) => operationId);
  const compileNext = () => {
    const operationId = left.pop();
    if (operationId === undefined) return;
    try {
      validator.getRequestValidatorsForOperation(operationId);
    } catch (err) {
      log.error(
        { err, operationId },
        'the schemas of the operation are broken, so each request of it is 500',
      );
    }
    setImmediate(compileNext).unref();
  };
  setTimeout(compileNext, laterMs).unref();
}

function validateBy(validators: () => readonly ValidateFunction[]): CompiledOperation['findErrors'] {
  return ({ params: path, query, headers: header, cookies: cookie, body }) => {
    const parameters = { path, query, header, cookie };
    const input = body === undefined ? parameters : { ...parameters, requestBody: body };
    const errors: ErrorObject[] = [];
    for (const validate of validators()) if (!validate(input)) errors.push(...(validate.errors ?? []));
    return errors;
  };
}

/** Finds the operation of a request. What can be read can be asked for without its body (RFC 9110, 9.3.2). */
export function compileRouter<Op extends Routed>(operations: readonly Op[]) {
  const find = compileMatcher(operations);
  return (method: string, path: string): Match<Op> => {
    // Node sends no body in answer to HEAD.
    const found = find(method === 'head' ? 'get' : method, path);
    const isReadable = found.kind === 'wrong-method' && found.allow.includes('GET');
    return isReadable ? { ...found, allow: [...found.allow, 'HEAD'] } : found;
  };
}
