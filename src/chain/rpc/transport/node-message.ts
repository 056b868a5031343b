import { NodesUnavailableError } from './node-fault.ts';

type JsonRpcError = { readonly code?: unknown; readonly message: unknown; readonly data?: unknown };

/**
 * The node's own message of an error, to be matched against the wordings of clients.
 * - For a JSON-RPC error that ethers wrapped: ethers's short reading of it, the node's message and its `data`
 *   (some nodes put the reason there), joined by `; `. It never contains the request, so no pattern can match
 *   what was asked.
 * - For {@link NodesUnavailableError}: why each node gave no answer, without the URLs.
 * - For any other error: its message. Empty for a value that is no error.
 */
export function nodeMessage(error: unknown): string {
  if (error instanceof NodesUnavailableError) {
    return error.attempts.map(({ message }) => message).join('; ');
  }
  if (!(error instanceof Error)) return '';
  const inner = jsonRpcErrorOf(error);
  if (inner === undefined) return error.message;
  const short = 'shortMessage' in error ? [String(error.shortMessage)] : [];
  const data = inner.data === undefined || inner.data === null ? [] : [JSON.stringify(inner.data)];
  return [...short, String(inner.message), ...data].join('; ');
}

/** The JSON-RPC code of an error with which a node answered; undefined when no node answered with one. */
export function nodeErrorCode(error: unknown): number | undefined {
  const code = error instanceof Error ? jsonRpcErrorOf(error)?.code : undefined;
  return typeof code === 'number' ? code : undefined;
}

/** ethers keeps the node's error in `error` or in `info.error`, depending on the code that it gives. */
function jsonRpcErrorOf(error: Error): JsonRpcError | undefined {
  const { error: direct, info } = error as { error?: unknown; info?: { error?: unknown } }; // as ethers adds them
  return [direct, info?.error].find(isJsonRpcError);
}

function isJsonRpcError(value: unknown): value is JsonRpcError {
  return typeof value === 'object' && value !== null && 'message' in value;
}
