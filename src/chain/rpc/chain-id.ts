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

// A URL may come to lead to another chain without ever failing, when its load balancer is changed.
const checkEveryMs = 5 * 60_000;

/** {@link checkChainId}, asked now and then, and again once it is forgotten. */
export function createChainCheck({ now, ...options }: ChainOptions & { readonly now: () => number }) {
  let checked: { readonly at: number; readonly outcome: Promise<void> } | undefined;
  return {
    check(): Promise<void> {
      if (checked === undefined || now() - checked.at >= checkEveryMs) {
        checked = { at: now(), outcome: checkChainId(options) };
      }
      return checked.outcome;
    },
    forget() {
      checked = undefined;
    },
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
