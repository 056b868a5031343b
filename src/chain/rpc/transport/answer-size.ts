/** Of an answer that is a number; errors describe their cause at length. */
export const numberBytes = 64 * 1_024;
// A contract chooses the size of its answer.
const contractBytes = 512 * 1_024;
// Blocks with everything in them.
const blockBytes = 64 * 1_024 * 1_024;

// The author of transactions chooses how large these answers are. The caller can ask for less, or go without.
const ofContents = new Set([
  'eth_getBlockReceipts',
  'debug_traceBlockByHash',
  'debug_traceBlockByNumber',
  'trace_block',
]);

/** Whether the method gives what is in a block, so that too large an answer says nothing of the node. */
export const isOfContents = (method: string): boolean => ofContents.has(method);

/** The greatest size of a node's answer, in bytes after decompression: more than any network comes to. */
export const mostBytesOf = (method: string): number => (method === 'eth_call' ? contractBytes : blockBytes);
