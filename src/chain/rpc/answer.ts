/** A JSON-RPC answer: the node's result, or its own error. */
export type RpcAnswer = { readonly result: unknown } | { readonly error: RpcError };

export type RpcError = { readonly code: number; readonly message: string; readonly data?: unknown };

/**
 * Reads the answer to the request with this id.
 * @returns undefined when it is no JSON-RPC answer to that request
 */
export function readAnswer(value: unknown, id: number): RpcAnswer | undefined {
  if (!isRecord(value)) return undefined;
  const error = value['error'];
  // Nodes that could not read a request answer with a null id; a result without its id is nobody's.
  if (value['id'] !== id && !(value['id'] === null && isRecord(error))) return undefined;
  if (error === undefined || error === null) {
    return 'result' in value ? { result: value['result'] } : undefined;
  }
  if (!isRecord(error) || typeof error['code'] !== 'number' || typeof error['message'] !== 'string') {
    return undefined;
  }
  return { error: { code: error['code'], message: error['message'], data: error['data'] } };
}

/**
 * What an error of a node means for the call:
 * - `answer`: it is about the request and every node would say it; the caller gets it;
 * - `elsewhere`: this node cannot tell just now, another may;
 * - `fault`: the node turns us away, so leave it alone for a while.
 */
export type Verdict = 'answer' | 'elsewhere' | 'fault';

const simulations = new Set(['eth_call', 'eth_estimateGas']);
const refusalCodes = new Set([429, -32005, -32029, -32097]);
const refusal = /rate.?limit|too many requests|request limit|quota|throttl|capacity exceeded|compute units/i;
/**
 * What nodes say to a question for logs of more blocks than they give at once. Providers give the code for
 * "too many requests" with it.
 */
export const tooWide = /range|results|response size|more than \d+|limited to|too (large|many blocks)/i;
const unknownState =
  /header not found|block ?out ?of ?range|missing trie node|(unknown|missing) (block|header)|block.*not (found|available)|state.*(not available|unavailable|pruned)|no state/i;

// What a simulation says of the request itself, without having run any code to its end.
const requestFault = /insufficient funds|gas required exceeds/i;

/** Judges a node's error. A contract writes its own revert text, so that is looked for first. */
export function judge(method: string, error: RpcError): Verdict {
  if (simulations.has(method) && (isExecutionFailure(error) || requestFault.test(error.message)))
    return 'answer';
  if (refusal.test(error.message)) return 'fault';
  if (refusalCodes.has(error.code)) return tooWide.test(error.message) ? 'answer' : 'fault';
  if (error.code === -32603 || unknownState.test(error.message)) return 'elsewhere';
  return simulations.has(method) ? 'elsewhere' : 'answer';
}

// geth and its kin; anvil and reth ("EVM error"); Nethermind and OpenEthereum; Hardhat; Besu.
const executionFailure =
  /^(execution )?revert|^invalid opcode|^out of gas|^gas uint64 overflow|^stack (underflow|overflow|limit)|^invalid jump|^write protection|^return data out of bounds|^max (initcode|code) size|^EVM error|^VM (execution error|exception)|reverted with|bad instruction|^invalid_operation/i;

/** Whether the code of a contract failed, in contrast to the node: a revert, an invalid opcode, no gas left. */
export function isExecutionFailure({ code, message }: RpcError): boolean {
  // 3 is geth's code for a revert, -32015 OpenEthereum's and Nethermind's for a failed execution.
  return code === 3 || code === -32015 || executionFailure.test(message.trim());
}

/** Whether a parsed JSON value is an object. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A node's own error in short; empty for a result. */
export function messageOf(answer: RpcAnswer): string {
  return 'error' in answer ? answer.error.message.slice(0, 200) : '';
}

/** The JSON value of a text; undefined when it is none. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
