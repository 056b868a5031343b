import { redactUrl } from '../../../base/log.ts';
import { createOutgoing } from '../../../outgoing/outgoing.ts';
import { askQuantity, checkChainId } from './chain-id.ts';
import { type FaultReason, NodeFault } from './node-fault.ts';
import { openTransport, rpcUrlFault } from './open-transport.ts';

/** A node that cannot serve its network. The message says what to correct and contains no credentials. */
export class NodeCheckError extends Error {
  readonly reason: FaultReason | 'url';

  constructor(reason: FaultReason | 'url', message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'NodeCheckError';
    this.reason = reason;
  }
}

const advice: Readonly<Record<FaultReason, string>> = {
  unreachable: 'Check that the node runs and that host and port are right.',
  timeout: 'Check that the node is not overloaded and that a firewall does not swallow the packets.',
  refused: 'Check the path and the credentials in the URL; redirects are not followed.',
  limited: 'Ask it less, or use a plan that allows more.',
  malformed: 'Check that the URL is that of a JSON-RPC endpoint.',
  oversized: 'Check that the URL is that of a JSON-RPC endpoint.',
  overfull: 'Check that the URL is that of a JSON-RPC endpoint.',
  busy: 'Wait a few seconds and check again.',
  shut: 'Wait a few seconds and check again.',
  wrong_chain: 'Use the URL of a node of this network, or correct the chain id.',
};

/**
 * Checks that a node answers and serves this chain.
 * @param chainId decimal
 * @returns the number of its newest block
 * @throws NodeCheckError
 */
export async function checkNode(
  url: string,
  chainId: string,
  timeoutMs: number,
): Promise<{ blockNumber: bigint }> {
  const label = redactUrl(url);
  const fault = rpcUrlFault(url);
  if (fault !== undefined) throw new NodeCheckError('url', `RPC URL ${label}: ${fault}.`);
  const transport = openTransport(url, { outgoing: createOutgoing(), label });
  try {
    await checkChainId({ transport, chainId, timeoutMs });
    return { blockNumber: await askQuantity(transport, 'eth_blockNumber', timeoutMs) };
  } catch (error) {
    if (!(error instanceof NodeFault)) throw error;
    const message = `Node ${label}: ${error.message}. ${advice[error.reason]}`;
    throw new NodeCheckError(error.reason, message, error);
  } finally {
    transport.close();
  }
}
