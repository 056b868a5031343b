const kB = 1_024;
const MB = 1_024 * kB;

/** Of an answer that is a number or a hash; errors describe their cause at length. */
export const numberBytes = 64 * kB;
// Some have large fields for their validators, and a block may have a hundred thousand hashes of transactions.
const headerBytes = 8 * MB;
// Contracts of zkSync have up to 2 MB, all others far less.
const codeBytes = 8 * MB;
// A contract chooses the size of its answer.
const contractBytes = 512 * kB;
// Blocks with all that is in them. A single transaction may fill one.
const blockBytes = 64 * MB;

const ofMethod: Readonly<Record<string, number>> = {
  eth_blockNumber: numberBytes,
  eth_chainId: numberBytes,
  eth_gasPrice: numberBytes,
  eth_maxPriorityFeePerGas: numberBytes,
  eth_feeHistory: numberBytes,
  eth_getBalance: numberBytes,
  eth_getTransactionCount: numberBytes,
  eth_estimateGas: numberBytes,
  eth_sendRawTransaction: numberBytes,
  eth_getUncleByBlockHashAndIndex: headerBytes,
  eth_getCode: codeBytes,
  eth_call: contractBytes,
};
// A transaction of ours has 17 million gas at most. What makes the longest receipt of it are empty logs, each of 375 gas and up
// to 500 bytes.
const ownReceiptBytes = 24 * MB;
// A contract that rejects a call chooses its words, and some nodes try a transaction before they send it.
const ofRefusals = new Set(['eth_estimateGas', 'eth_sendRawTransaction']);

/** Whether the method gives so little that a longer answer is the words with which a contract rejects the call. */
export const isOfRefusals = (method: string): boolean => ofRefusals.has(method);

// Whoever fills a block chooses how large these are. Less can be asked for instead, or gone without.
const ofContents = new Set([
  'eth_getBlockReceipts',
  'debug_traceBlockByHash',
  'debug_traceBlockByNumber',
  'trace_block',
]);

/** Whether the method gives what is in a block, so that too large an answer says nothing of the node. */
export const isOfContents = (method: string): boolean => ofContents.has(method);

const ofBlocks = new Set(['eth_getBlockByNumber', 'eth_getBlockByHash']);

/** The greatest size of a node's answer, in bytes after decompression: more than any network comes to. */
export function mostBytesOf(method: string, params: readonly unknown[] | object): number {
  const isHeader = ofBlocks.has(method) && Array.isArray(params) && params[1] === false;
  return isHeader ? headerBytes : (ofMethod[method] ?? blockBytes);
}

/** As {@link mostBytesOf}, where no receipts are asked for but those of transactions that we have signed. */
export const mostBytesOfOwn: typeof mostBytesOf = (method, params) =>
  method === 'eth_getTransactionReceipt' ? ownReceiptBytes : mostBytesOf(method, params);
