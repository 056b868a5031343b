import type { OperationObject } from '../../contract/documents.ts';
import { compileInputReader } from '../input/api-request.ts';
import type { Routed } from './matcher.ts';
import { type OperationPlan, planOperation } from './operation-plan.ts';

/** An operation of a document with everything that can be computed before the first request. */
export type CompiledOperation = {
  /** The library's own, but for its security. */
  readonly operation: Routed;
  readonly plan: OperationPlan;
  readonly readInput: ReturnType<typeof compileInputReader>;
};

/** Operations by operationId. */
export type CompiledOperations = ReadonlyMap<string, CompiledOperation>;

/** @param operations with their references resolved */
export function compileOperations(operations: readonly Routed[]): CompiledOperations {
  return new Map(
    operations.map((operation) => {
      const plan = planOperation(operation as Routed & OperationObject); // the library adds method and path
      const readInput = compileInputReader(plan, operation.path);
      // Keys are checked in one step of ours: the library would make a dozen promises of each, and then ask us.
      const open = { ...operation, security: [] };
      return [plan.operationId, { operation: open, plan, readInput }];
    }),
  );
}
