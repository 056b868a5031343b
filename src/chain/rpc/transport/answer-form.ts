import { isRecord, type RpcAnswer } from './answer.ts';
import { NodeFault } from './node-fault.ts';
import { readQuantity } from './quantity.ts';

type Form = { readonly name: string; readonly fits: (result: unknown) => boolean };

const number: Form = { name: 'number', fits: (result) => readQuantity(result) !== undefined };
const hex = /^0x[0-9a-f]*$/i;
const bytes: Form = {
  name: 'bytes',
  fits: (result) => typeof result === 'string' && hex.test(result) && result.length % 2 === 0,
};
// Of an account without code some say 0x0.
const code: Form = { name: 'bytes', fits: (result) => typeof result === 'string' && hex.test(result) };
const record: Form = { name: 'object', fits: isRecord };
const list: Form = { name: 'list', fits: Array.isArray };
// A node answers null for a thing that it does not have.
const orNull = ({ name, fits }: Form): Form => ({ name, fits: (result) => result === null || fits(result) });

// A transaction that is sent is known by its hash, whatever a node says of it.
const forms: Readonly<Record<string, Form>> = {
  eth_blockNumber: number,
  eth_chainId: number,
  eth_gasPrice: number,
  eth_maxPriorityFeePerGas: number,
  eth_getBalance: number,
  eth_getTransactionCount: number,
  eth_estimateGas: number,
  eth_call: bytes,
  eth_getCode: code,
  eth_feeHistory: record,
  eth_getBlockByNumber: orNull(record),
  eth_getBlockByHash: orNull(record),
  eth_getUncleByBlockHashAndIndex: orNull(record),
  eth_getTransactionByHash: orNull(record),
  eth_getTransactionReceipt: orNull(record),
  eth_getBlockReceipts: orNull(list),
  eth_getLogs: list,
  trace_block: orNull(list),
  debug_traceBlockByHash: orNull(list),
  debug_traceBlockByNumber: orNull(list),
};

/**
 * Checks that a node's result is of the kind that its method has, so that another node is asked where it is not. The
 * reader judges the content.
 * @throws NodeFault `malformed`
 */
export function checkForm(method: string, params: readonly unknown[] | object, answer: RpcAnswer): void {
  const form = forms[method];
  // Some nodes that do not know this tag answer it in a way of their own, and are as they should be otherwise.
  const isTag = Array.isArray(params) && params[0] === 'finalized';
  if ('error' in answer || form === undefined || isTag || form.fits(answer.result)) return;
  throw new NodeFault('malformed', `${method} answers no ${form.name}`);
}
