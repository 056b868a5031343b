import { NodeFault } from './node-fault.ts';
import { readQuantity } from './quantity.ts';
import type { Transport } from './transport.ts';

const maxBytes = 64 * 1024;

/** The id of the chain that a node serves. @throws NodeFault */
export function askChainId(transport: Transport, timeoutMs: number): Promise<bigint> {
  return askQuantity(transport, 'eth_chainId', timeoutMs);
}

/** One number of a node. @throws NodeFault, also for an error of the node: each node must know these */
export async function askQuantity(transport: Transport, method: string, timeoutMs: number): Promise<bigint> {
  const answer = await transport.ask(method, [], { timeoutMs, maxBytes });
  if ('error' in answer) throw new NodeFault('refused', `${method}: ${answer.error.message.slice(0, 200)}`);
  const value = readQuantity(answer.result);
  if (value === undefined) throw new NodeFault('malformed', `${method} answers no number`);
  return value;
}
