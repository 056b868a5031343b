import type { OperationObject } from '../../contract/documents.ts';
import { compileInputReader } from '../input/api-request.ts';
import type { Routed } from './matcher.ts';
import { type OperationPlan, planOperation } from './operation-plan.ts';

/** An operation of a document with everything about it that can be worked out before a request comes. */
export type CompiledOperation = {
  /** As the library knows it. */
  readonly operation: Routed;
  readonly plan: OperationPlan;
  readonly readInput: ReturnType<typeof compileInputReader>;
};

/** By operationId. */
export type CompiledOperations = ReadonlyMap<string, CompiledOperation>;

/** @param operations resolved: without references */
export function compileOperations(operations: readonly Routed[]): CompiledOperations {
  return new Map(
    operations.map((operation) => {
      const plan = planOperation(operation as Routed & OperationObject); // the library adds method and path
      const readInput = compileInputReader(plan, operation.path);
      return [plan.operationId, { operation, plan, readInput }];
    }),
  );
}
