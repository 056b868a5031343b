import { type CallExceptionError, isError, type JsonRpcApiProvider } from 'ethers';
import { OversizedAnswerError } from '../transport/node-fault.ts';
import { quantity } from '../transport/quantity.ts';

export type ContractCall = {
  /** Without it, the data are code that the node runs. */
  readonly to?: string;
  /** Selector and arguments, as hex. */
  readonly data: string;
  readonly from?: string;
  readonly gas?: bigint;
};

/** The block whose state is meant: by number, by hash (EIP-1898), or the newest. */
export type StateOf = bigint | 'latest' | { readonly blockHash: string };

type Node = Pick<JsonRpcApiProvider, 'send'>;

/**
 * Whether a simulation (`eth_call`, `eth_estimateGas`) ended because the contract's code failed: a revert, an
 * invalid opcode, no gas left. The RPC client passes on only such failures as call exceptions; an error of the
 * node itself is never passed on as one.
 */
export function isRevert(error: unknown): error is CallExceptionError {
  return isError(error, 'CALL_EXCEPTION');
}

/**
 * Calls a contract without a transaction.
 * @param block the block whose state the contract sees
 * @returns the answer's bytes as hex; undefined when the contract's code failed
 * @throws NodesUnavailableError when no node answered with bytes; OversizedAnswerError when the contract returns more than
 *   the client accepts
 */
export async function callContract(
  node: Node,
  { to, data, from, gas }: ContractCall,
  block: StateOf,
): Promise<string | undefined> {
  const transaction = {
    ...(to !== undefined && { to }),
    data,
    ...(from !== undefined && { from }),
    ...(gas !== undefined && { gas: quantity(gas) }),
  };
  const tag = typeof block === 'bigint' ? quantity(block) : block;
  try {
    // The client asks the next node where the answer is none of its method.
    return String(await node.send('eth_call', [transaction, tag]));
  } catch (error) {
    if (isRevert(error)) return undefined;
    throw error;
  }
}

/**
 * Calls a contract for something that it may leave out, such as a name. Takes an answer that is too large for none: it
 * is the contract's doing and says nothing of the node.
 * @returns the answer's bytes as hex; undefined when the contract's code failed or returned too much
 * @throws as {@link callContract}, except OversizedAnswerError
 */
export async function readContract(
  node: Node,
  call: ContractCall,
  block: StateOf,
): Promise<string | undefined> {
  try {
    return await callContract(node, call, block);
  } catch (error) {
    if (error instanceof OversizedAnswerError) return undefined;
    throw error;
  }
}
