import { isError } from 'ethers';
import { NodesUnavailableError } from '../../../chain/rpc/node-fault.ts';

/** The node's own words of an error that ethers made of them, and the code. */
function wordsOf(error: unknown): { code: number | undefined; message: string } {
  if (error instanceof NodesUnavailableError) {
    return { code: undefined, message: error.attempts.map(({ message }) => message).join('; ') };
  }
  if (isError(error, 'UNKNOWN_ERROR') || isError(error, 'UNSUPPORTED_OPERATION')) {
    const { error: inner = error.info?.['error'] } = error as { error?: unknown }; // ethers keeps it in one of both
    if (typeof inner === 'object' && inner !== null && 'message' in inner) {
      const code = 'code' in inner && typeof inner.code === 'number' ? inner.code : undefined;
      return { code, message: String(inner.message) };
    }
  }
  return { code: undefined, message: error instanceof Error ? error.message : '' };
}

const missing =
  /method.*(not (found|supported|available|exist|allowed|enabled)|does not exist|disabled)|unsupported method|unknown method|not implemented/i;

/** Whether the node does not offer the method at all. */
export function isMethodMissing(error: unknown): boolean {
  const { code, message } = wordsOf(error);
  return code === -32601 || missing.test(message);
}

const pruned =
  /missing trie node|state.*(not available|unavailable|pruned|missing)|historical state|no state|pruned|history.*(unavailable|not available)|old data not available|distance to target block exceeds/i;

/** Whether the node once had what was asked and does not keep it that long. */
export function isPruned(error: unknown): boolean {
  return pruned.test(wordsOf(error).message);
}
