import type { Hide } from './hide-parts.ts';

/** A JSON-RPC answer: the node's result, or its error. */
export type RpcAnswer = { readonly result: unknown } | { readonly error: RpcError };

export type RpcError = { readonly code: number; readonly message: string; readonly data?: unknown };

// Contracts choose the reasons in errors, and nodes the rest. ethers takes data apart byte by byte.
const mostWords = 4_096;
/** A selector and 64 words of 32 bytes, in hex. */
const mostData = 2 + 2 * (4 + 64 * 32);
const mostFields = 4 * mostData;

/**
 * Parses the answer to the request with this id. Of an error's message and data the beginning is kept, without U+0000, which
 * PostgreSQL takes in no text.
 * @param hide takes out of them what nobody may see
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
  const { code = noCode, message, data } = error;
  if (typeof code !== 'number' || typeof message !== 'string') return undefined;
  // Secrets are hidden first. If the text were cut first, half a secret could stay.
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
 * - `answer`: the caller gets it;
 * - `elsewhere`: a simulation that another node may answer;
 * - `refused`: the node's fault. Another node is asked; the caller gets the error where no node answers;
 * - `limited`: the node is asked too much. Another node is asked, and this one more slowly from now on.
 */
export type AnswerVerdict = 'answer' | 'elsewhere' | 'refused' | 'limited';

const noMethod = -32601;
/** Of an error without a code, which some nodes give. */
const noCode = 0;

// A contract or a transaction is at fault only in these. Of every other method an error is the node's fault, whatever it says.
const mayAnswer: Readonly<Record<string, (error: RpcError) => boolean>> = {
  eth_call: isExecutionFailure,
  eth_estimateGas: (error) => isExecutionFailure(error) || requestFault.test(error.message),
  // Without a code nobody knows whether the node judged the transaction.
  eth_sendRawTransaction: ({ code }) => code !== noMethod && code !== noCode,
};

/** Whether the code says that the node is asked too much. */
export const isLimitCode = (code: number | undefined): boolean => code === 429 || code === -32005;

/** Classifies a node's error by its method. */
export function judgeError(method: string, error: RpcError): AnswerVerdict {
  // Contracts choose their revert messages, so a revert is recognised first.
  if (method !== 'eth_sendRawTransaction' && mayAnswer[method]?.(error)) return 'answer';
  // Nodes have -32005 for a range with too many logs, too, which no slower question helps.
  if (isLimitCode(error.code) && (method !== 'eth_getLogs' || error.code === 429)) return 'limited';
  const isAnswer = mayAnswer[method];
  if (isAnswer === undefined) return 'refused';
  return isAnswer(error) ? 'answer' : 'elsewhere';
}

const everyNode = new Set([
  'eth_blockNumber',
  'eth_chainId',
  'eth_gasPrice',
  'eth_getBalance',
  'eth_getBlockByNumber',
  'eth_getTransactionCount',
]);

/** Whether every node that works answers the question: its method is known everywhere, and it is about the newest block. */
export function isOfEveryNode(method: string, params: readonly unknown[] | object): boolean {
  return everyNode.has(method) && Array.isArray(params) && (params.length === 0 || params.includes('latest'));
}

// Errors of a simulation about the request itself, before any code has run to its end.
const requestFault = /insufficient funds|gas required exceeds/i;

// geth and its forks; anvil and reth ("EVM error"); Nethermind and OpenEthereum; Hardhat; Besu.
const executionFailure =
  /^(execution )?revert|^invalid opcode|^out of gas|^gas uint64 overflow|^stack (underflow|overflow|limit)|^invalid jump|^write protection|^return data out of bounds|^max (initcode|code) size|^EVM error|^VM (execution error|exception)|reverted with|bad instruction|^invalid_operation/i;

/** Whether a contract's code failed in a simulation, rather than the node: a revert, an invalid opcode, out of gas. */
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
