import type { JsonRpcApiProvider } from 'ethers';
import { isRecord, type RpcAnswer } from './answer.ts';
import { NodeFault, NodesUnavailableError } from './node-fault.ts';
import { nodeErrorCode, nodeMessage } from './node-message.ts';
import { readBlockNumber } from './quantity.ts';

type Node = Pick<JsonRpcApiProvider, 'send'>;

/**
 * What a node says of the tag `finalized`: the number of the block; `none` while it has no such block, which may
 * change at any time; `unsupported` when it does not know the tag.
 */
export type FinalizedTag = bigint | 'none' | 'unsupported';

// Clients refuse the tag in many words; some try to read it as a number. A key that is unknown or a plan that does
// not include a method ("project not found", "unsupported plan") must not match.
const refusedTag =
  /finali[sz]ed|\btag\b|(unknown|invalid|unsupported|missing) block|(block|header)[^;]* not (found|available|supported)|invalid (param|argument)|hex string|cannot unmarshal/i;
const invalidParams = -32602;

/**
 * Asks for the newest block that the chain's consensus has made final.
 *
 * These answers mean that the node does not know the tag, or has no such block:
 * - `null`: `none`;
 * - a JSON-RPC error with code -32602 (invalid parameters), or whose message speaks of the tag, of a block that
 *   is unknown or of an invalid parameter: `unsupported`;
 * - no node answers, and at least one said in these words why not (geth says "finalized block not found" until
 *   its chain has one, which the client takes for a node that is behind): `none`.
 *
 * Whatever else a node or the transport fails with rejects, so that an outage is never taken for an answer.
 * @throws NodesUnavailableError; NodeFault `malformed`; the error with which the node answered
 */
export async function askFinalizedTag(node: Node): Promise<FinalizedTag> {
  let block: unknown;
  try {
    block = await node.send('eth_getBlockByNumber', ['finalized', false]);
  } catch (error) {
    const refused = refusedTag.test(nodeMessage(error));
    if (error instanceof NodesUnavailableError && refused) return 'none';
    const code = nodeErrorCode(error);
    if (code === invalidParams || (code !== undefined && refused)) return 'unsupported';
    throw error;
  }
  if (block === null) return 'none';
  const number = isRecord(block) ? readBlockNumber(block['number']) : undefined;
  if (number === undefined) throw new NodeFault('malformed', 'the finalized block has no number');
  return number;
}

/**
 * Reads one node's own answer to the question for the tag `finalized`, as {@link askFinalizedTag} does.
 * @returns `none` also when the node says that it has not found such a block
 * @throws NodeFault when the answer says nothing of it
 */
export function readFinalizedTag(answer: RpcAnswer): FinalizedTag {
  if ('error' in answer) {
    const { code, message } = answer.error;
    if (/not (found|available)/i.test(message) && refusedTag.test(message)) return 'none';
    if (code === invalidParams || refusedTag.test(message)) return 'unsupported';
    throw new NodeFault('refused', message);
  }
  if (answer.result === null) return 'none';
  const number = isRecord(answer.result) ? readBlockNumber(answer.result['number']) : undefined;
  if (number === undefined) throw new NodeFault('malformed', 'the finalized block has no number');
  return number;
}

/**
 * The newest block that cannot be replaced: the one with the tag `finalized` or, from a node that has none
 * ({@link askFinalizedTag} lists the answers), the block `depth` below the head.
 * @param head number of the newest block
 * @param depth the network's `finalityDepth`, in blocks
 * @returns the number; -1n when the chain is not deep enough to have such a block
 * @throws as {@link askFinalizedTag}
 */
export async function finalizedBlock(node: Node, head: bigint, depth: number): Promise<bigint> {
  const tag = await askFinalizedTag(node);
  return typeof tag === 'bigint' ? tag : blockAtDepth(head, depth);
}

/** The number of the block `depth` below the head; -1n when the chain is not that long. */
export function blockAtDepth(head: bigint, depth: number): bigint {
  const number = head - BigInt(depth);
  return number < 0n ? -1n : number;
}
