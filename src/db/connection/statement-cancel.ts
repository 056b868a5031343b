import { currentScope, inBackground, watchEnd } from '../../base/request-scope.ts';

/**
 * Calls `cancel` when the caller of the present work goes before its statement ends. A change that has begun is finished.
 * @returns what is to be called at the end of the statement; undefined where nobody can go
 */
export function cancelWithCaller(cancel: () => void): (() => void) | undefined {
  const scope = currentScope();
  return scope?.isRead === true ? watchEnd(scope, () => inBackground(cancel)) : undefined;
}
