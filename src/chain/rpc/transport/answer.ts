import type { Hide } from './hide-parts.ts';

/** A JSON-RPC answer: the node's result, or its error. */
export type RpcAnswer = { readonly result: unknown } | { readonly error: RpcError };

export type RpcError = { readonly code: number; readonly message: string; readonly data?: unknown };

// Contracts choose the reasons that are told of them, and nodes the rest. Patterns are matched against both, in time that may grow with the
// square of their length, and ethers takes data apart byte by byte.
const mostWords = 4_096;
/** A selector and 64 words of 32 bytes, in hex. */
const mostData = 2 + 2 * (4 + 64 * 32);
const mostFields = 4 * mostData;

/**
 * Parses the answer to the request with this id. Of an error's message and data the beginning is kept, without U+0000, which
 * PostgreSQL takes in no text.
 * @param hide takes out of them what nobody may be told
 * @returns undefined when the value is not a JSON-RPC answer to that request
 */
export function readAnswer(value: unknown, id: number, hide: Hide): RpcAnswer | undefined {
  if (!isRecord(value)) return undefined;
  const error = value['error'];
  // Nodes that could not parse a request answer with a null id; a result without an id belongs to no request.
  if (value['id'] !== id && !(value['id'] === null && isRecord(error))) return undefined;
  if (error === undefined || error === null) {
    return 'result' in value ? { result: value['result'] } : undefined;
  }
  if (!isRecord(error)) return undefined;
  const { code, message, data } = error;
  if (typeof code !== 'number' || typeof message !== 'string') return undefined;
  // Hidden first: of what is cut in two, a half would stay.
  const words = hide(message).slice(0, mostWords).replaceAll('\0', '\ufffd');
  return { error: { code, message: words, data: shortened(data, hide) } };
}

function shortened(data: unknown, hide: Hide): unknown {
  const hidden = (value: unknown) => (typeof value === 'string' && !hex.test(value) ? hide(value) : value);
  if (typeof data === 'string') return String(hidden(data)).slice(0, mostData);
  if ((JSON.stringify(data)?.length ?? 0) > mostFields) return undefined;
  return data === undefined ? undefined : JSON.parse(JSON.stringify(data, (_name, value) => hidden(value)));
}

// What a contract returned, which is read as it is.
const hex = /^0x[0-9a-f]*$/i;

/**
 * How to treat a node's error:
 * - `answer`: it is about the request, so every node would give it; the caller gets it;
 * - `elsewhere`: this node cannot answer now, another may;
 * - `lacking`: this node does not have the method or the data, another may; the caller gets it where none does;
 * - `fault`: the node refuses our requests and is not asked for a while.
 */
export type Verdict = 'answer' | 'elsewhere' | 'lacking' | 'fault';

const simulations = new Set(['eth_call', 'eth_estimateGas']);
const refusalCodes = new Set([429, -32005, -32029, -32097]);
const refusal = /rate.?limit|too many requests|request limit|quota|throttl|capacity exceeded|compute units/i;
/**
 * Matches the refusal of a query for logs of too many blocks. Hosted nodes send it with the code for "too many
 * requests", and BSC nothing but "limit exceeded".
 */
export const tooWide =
  /range|results|response size|more than \d+|limited to|too (large|many blocks)|(^|; )limit exceeded/i;
const unknownState =
  /header not found|block ?out ?of ?range|missing trie node|(unknown|missing) (block|header)|block.*not (found|available)|state.*(not available|unavailable|pruned)|no state/i;

const noMethod =
  /method.*(not (found|supported|available|exist|allowed|enabled)|does not exist|disabled|unsupported)|unsupported method|unknown method|not implemented/i;
const noData =
  /missing trie node|state.*(not available|unavailable|pruned|missing)|historical state|no state|pruned|history.*(unavailable|not available)|old data not available|distance to target block exceeds/i;

/** What a node says of a question: the message of its error, and its code where that is known. */
type Words = { readonly code?: number | undefined; readonly message: string };

/** Whether the node does not support the method. */
export function lacksMethod({ code, message }: Words): boolean {
  return code === -32601 || noMethod.test(message);
}

/** Whether the node no longer has the requested data. */
export function lacksData({ message }: Words): boolean {
  return noData.test(message);
}

// Errors of a simulation about the request itself, before any code has run to its end.
const requestFault = /insufficient funds|gas required exceeds/i;

/** Classifies a node's error. Contracts choose their revert messages, so a revert is recognised first. */
export function judge(method: string, error: RpcError): Verdict {
  if (simulations.has(method) && (isExecutionFailure(error) || requestFault.test(error.message)))
    return 'answer';
  if (refusal.test(error.message)) return 'fault';
  if (refusalCodes.has(error.code)) return tooWide.test(error.message) ? 'answer' : 'fault';
  if (error.code === -32603 || unknownState.test(error.message)) return 'elsewhere';
  if (simulations.has(method)) return 'elsewhere';
  return lacksMethod(error) || lacksData(error) ? 'lacking' : 'answer';
}

/**
 * Whether these words to a simulation may be about what is simulated: they come from a node, and neither refuse us nor say that
 * it does not have the block.
 */
export function mayBeOfSimulation({ code, message }: Words): boolean {
  if (code === undefined || unknownState.test(message) || lacksData({ message })) return false;
  return judge('eth_call', { code, message }) === 'elsewhere';
}

// geth and its forks; anvil and reth ("EVM error"); Nethermind and OpenEthereum; Hardhat; Besu.
const executionFailure =
  /^(execution )?revert|^invalid opcode|^out of gas|^gas uint64 overflow|^stack (underflow|overflow|limit)|^invalid jump|^write protection|^return data out of bounds|^max (initcode|code) size|^EVM error|^VM (execution error|exception)|reverted with|bad instruction|^invalid_operation/i;

/** Whether a contract's code failed, rather than the node: a revert, an invalid opcode, out of gas. */
export function isExecutionFailure({ code, message }: RpcError): boolean {
  // 3 is geth's code for a revert, -32015 OpenEthereum's and Nethermind's for a failed execution.
  return code === 3 || code === -32015 || executionFailure.test(message.trim());
}

/** Whether a parsed JSON value is an object. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The message of a node's error, at most 200 characters; empty for a result. */
export function messageOf(answer: RpcAnswer): string {
  return 'error' in answer ? answer.error.message.slice(0, 200) : '';
}

/** Parses JSON; undefined for an invalid text. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
