import { nodeErrorCode, nodeMessage } from '../../../chain/rpc/node-message.ts';

const missing =
  /method.*(not (found|supported|available|exist|allowed|enabled)|does not exist|disabled)|unsupported method|unknown method|not implemented/i;

/** Whether the node does not support the method. */
export function isMethodMissing(error: unknown): boolean {
  return nodeErrorCode(error) === -32601 || missing.test(nodeMessage(error));
}

const pruned =
  /missing trie node|state.*(not available|unavailable|pruned|missing)|historical state|no state|pruned|history.*(unavailable|not available)|old data not available|distance to target block exceeds/i;

/** Whether the node no longer has the requested data. */
export function isPruned(error: unknown): boolean {
  return pruned.test(nodeMessage(error));
}
