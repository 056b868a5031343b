import type { OpenAPIBackend } from 'openapi-backend';
import type { CompiledOperations } from './compiled-operations.ts';
import { compileMatcher, type Match, type Routed } from './matcher.ts';

export type Matcher = (method: string, path: string) => Match<Routed>;

/**
 * Replaces what the library's router computes for every request: the list of operations, the match, and the parsed
 * request, which dispatch provides itself.
 * @returns the matcher that the router now uses
 */
export function replaceRouter(api: OpenAPIBackend, operations: CompiledOperations): Matcher {
  const list = [...operations.values()].map(({ operation }) => operation);
  const find = compileMatcher(list);
  // What can be read can be asked for without its body (RFC 9110, 9.3.2): Node sends none in answer to HEAD.
  const match: Matcher = (method, path) => {
    const found = find(method === 'head' ? 'get' : method, path);
    const isReadable = found.kind === 'wrong-method' && found.allow.includes('GET');
    return isReadable ? { ...found, allow: [...found.allow, 'HEAD'] } : found;
  };
  const replacement = {
    getOperations: () => list,
    getOperation: (id: string) => operations.get(id)?.operation,
    matchOperation(request: Routed): Routed {
      const found = match(request.method, request.path);
      if (found.kind === 'found') return found.operation;
      // The library distinguishes the two by these messages.
      throw new Error(found.kind === 'none' ? '404-notFound' : '405-methodNotAllowed');
    },
    parseRequest: <T>(request: T): T => request,
  };
  Object.assign(api.router, replacement);
  return match;
}
