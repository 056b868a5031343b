import type { OperationObject } from '../../contract/documents.ts';
import { type Scope, scopesOfWord } from '../../contract/scopes.ts';
import { type InputPlan, planInput } from '../input/input-plan.ts';
import { compileHiding } from './hidden-fields.ts';

/** What dispatch needs of an operation beyond what the library keeps, read from the document once. */
export type OperationPlan = InputPlan & {
  readonly operationId: string;
  /** Whether it needs no key. */
  readonly isPublic: boolean;
  /** The scopes of which a key needs one; null where any key will do. */
  readonly requiredScopes: readonly Scope[] | null;
  /** Replaces fields of a reply by null that need a scope that the key lacks; undefined where no field does. */
  readonly hideFields: ReturnType<typeof compileHiding>;
  /** Whether it takes an `Idempotency-Key`. */
  readonly isIdempotent: boolean;
  /** Whether it returns a list whose length the caller chooses. */
  readonly isList: boolean;
  /** Whether it runs as few at once as requests for large responses, however small the answer is. */
  readonly readsAll: boolean;
};

const scheme = 'ApiKey';

/**
 * @param operation with its references resolved
 * @throws Error when the document uses something that dispatch does not enforce
 */
export function planOperation(operation: OperationObject): OperationPlan {
  const { operationId } = operation;
  if (operationId === undefined) throw new Error('an operation has no operationId');
  const input = planInput(operationId, operation);
  return {
    ...input,
    operationId,
    isPublic: isPublic(operationId, operation),
    requiredScopes: requiredScopes(operationId, operation),
    hideFields: compileHiding(operationId, operation),
    isIdempotent: input.parameters.some(({ key }) => key === 'idempotency-key'),
    isList: input.parameters.some(({ in: place, name }) => place === 'query' && name === 'limit'),
    readsAll: operation['x-reads-all'] === true,
  };
}

function isPublic(operationId: string, { security = [] }: OperationObject): boolean {
  if (security.length === 0) return true;
  const [only, ...others] = security;
  const isKeyAlone = only !== undefined && Object.keys(only).join() === scheme && others.length === 0;
  if (!isKeyAlone) throw new Error(`${operationId}: security must be ${scheme} alone, or []`);
  return false;
}

function requiredScopes(operationId: string, operation: OperationObject): readonly Scope[] | null {
  const { 'x-required-scope': word } = operation;
  if (isPublic(operationId, operation) || word === 'none') return null;
  // Without its scope an operation would be open to keys that are limited to others.
  const scopes = scopesOfWord(word);
  if (scopes === undefined) throw new Error(`${operationId}: x-required-scope must be a scope or none`);
  return scopes;
}
