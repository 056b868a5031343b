import { messageOf } from './answer.ts';
import { NodeFault } from './node-fault.ts';
import { readQuantity } from './quantity.ts';
import type { Transport } from './transport.ts';

const maxBytes = 64 * 1024;

type ChainOptions = { readonly transport: Transport; readonly chainId: string; readonly timeoutMs: number };

/** Makes sure that a node serves this chain. @throws NodeFault */
export async function checkChainId({ transport, chainId, timeoutMs }: ChainOptions): Promise<void> {
  const served = await askQuantity(transport, 'eth_chainId', timeoutMs);
  if (served !== BigInt(chainId)) {
    throw new NodeFault('wrong_chain', `the node serves chain ${served}, not ${chainId}`);
  }
}

/** {@link checkChainId}, asked once until it is forgotten: the node behind a URL may be exchanged. */
export function createChainCheck(options: ChainOptions) {
  let checked: Promise<void> | undefined;
  const forget = () => {
    checked = undefined;
  };
  return {
    check() {
      checked ??= checkChainId(options);
      return checked;
    },
    forget,
  };
}

/** One number of a node. @throws NodeFault, also for an error of the node: each node must know these */
export async function askQuantity(transport: Transport, method: string, timeoutMs: number): Promise<bigint> {
  const answer = await transport.ask(method, [], { timeoutMs, maxBytes });
  if ('error' in answer) throw new NodeFault('refused', `${method}: ${messageOf(answer)}`);
  const value = readQuantity(answer.result);
  if (value === undefined) throw new NodeFault('malformed', `${method} answers no number`);
  return value;
}
