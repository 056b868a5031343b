import type { JsonRpcApiProvider } from 'ethers';
import { isOfEveryNode } from '../transport/answer.ts';
import type { RpcEndpoint } from '../transport/endpoint.ts';
import { NodesUnavailableError } from '../transport/node-fault.ts';
import type { BlockId } from '../transport/node-look.ts';
import { type AskNetwork, createFailover, noPreference } from './failover.ts';
import type { Agreement } from './node-consensus.ts';

/** The one node that everything up to the next poll is asked of, and what the poll of all nodes has shown. */
export type PinnedNode = Agreement & {
  /** The node's URL without secret parts. */
  readonly label: string;
  /** Asks this node only. Rejects with NodesUnavailableError when it does not answer, or serves another chain. */
  readonly provider: JsonRpcApiProvider;
  /** Its newest block at the poll, as it wrote it. */
  readonly headBlock: unknown;
  /** The newest block of its chain that is agreed to be final; -1n when there is none, or it is unknown. */
  readonly finalized: bigint;
  /** A block that two polls in a row agreed to be final, and that this node has: it is to be stored. */
  readonly lasting: BlockId | undefined;
  /** Since when it shows no new block, and no other node does, in words; undefined when blocks come. */
  readonly standing: string | undefined;
  /** Every node that transactions go to; the answer of one that has just failed is not worth waiting for. */
  readonly broadcasters: readonly { readonly provider: JsonRpcApiProvider; readonly isWaitedFor: boolean }[];
  /** Lets the next polls choose another node, if there is one: this node has rejected a question that another may answer. */
  readonly preferOthers: () => void;
};

// Their answers from another chain would change a row, a nonce or a price.
const doubted = new Set([
  'eth_getTransactionCount',
  'eth_call',
  'eth_getLogs',
  'eth_getBlockByNumber',
  'eth_maxPriorityFeePerGas',
  'eth_gasPrice',
]);

/**
 * Sends requests to one node only. A URL may come to lead to another chain between two requests, so answers that much
 * rests on count only when the chain id is right after them. Receipts are of transactions that we have signed.
 * @param onFailure called with each request that this node did not answer
 */
export function createSingleNode(chainId: string, endpoint: RpcEndpoint, onFailure: () => void): AskNetwork {
  const ask = createFailover(chainId, [endpoint], { ...noPreference, doubted });
  return async (method, params) => {
    try {
      const answer = await ask(method, params);
      if ('error' in answer && isOfEveryNode(method, params)) onFailure();
      return answer;
    } catch (error) {
      if (error instanceof NodesUnavailableError && !error.isOwn) onFailure();
      throw error;
    }
  };
}
