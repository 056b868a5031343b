import type { JsonRpcApiProvider } from 'ethers';
import { z } from 'zod';
import { nodeErrorCode } from '../rpc/transport/node-message.ts';
import { quantity } from '../rpc/transport/quantity.ts';
import { quantityShape } from './answer-shapes.ts';

type Node = Pick<JsonRpcApiProvider, 'send'>;

const historyShape = z.object({ reward: z.array(z.array(quantityShape)).nullish() });

// Of these blocks the middle one of what was paid to be mined in each.
const blocks = 20n;
const percentile = 50;

/** What is offered where a node answers neither method: 1 gwei, which most networks take. */
export const defaultTip = 1_000_000_000n;

/**
 * The priority fee that the node suggests. From a node without `eth_maxPriorityFeePerGas`: the median, over the last 20
 * blocks, of what the middle transaction of a block paid (`eth_feeHistory`); from one without that too:
 * {@link defaultTip}.
 * @throws NodesUnavailableError when the node does not answer
 */
export async function suggestedTip(node: Node): Promise<bigint> {
  const suggested = await askIfKnown(node, 'eth_maxPriorityFeePerGas', [], quantityShape);
  if (suggested !== undefined) return suggested;
  const history = await askIfKnown(
    node,
    'eth_feeHistory',
    [quantity(blocks), 'latest', [percentile]],
    historyShape,
  );
  // Blocks without transactions have no price, and are given as 0.
  const paid = (history?.reward ?? []).flatMap(([reward]) =>
    reward === undefined || reward === 0n ? [] : [reward],
  );
  const sorted = paid.toSorted((one, other) => (one < other ? -1 : 1));
  return sorted[Math.floor(sorted.length / 2)] ?? defaultTip;
}

/** @returns undefined when the node answers with an error */
async function askIfKnown<T>(
  node: Node,
  method: string,
  params: unknown[],
  shape: z.ZodType<T>,
): Promise<T | undefined> {
  let answer: unknown;
  try {
    answer = await node.send(method, params);
  } catch (error) {
    if (nodeErrorCode(error) !== undefined) return undefined;
    throw error;
  }
  return shape.parse(answer);
}
