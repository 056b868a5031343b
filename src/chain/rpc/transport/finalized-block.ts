import type { JsonRpcApiProvider } from 'ethers';
import { isRecord, type RpcAnswer } from './answer.ts';
import { NodeFault } from './node-fault.ts';
import { nodeErrorCode, nodeMessage } from './node-message.ts';
import { readBlockNumber } from './quantity.ts';

type Node = Pick<JsonRpcApiProvider, 'send'>;

/**
 * What a node says of the tag `finalized`: the number of the block; `none` while it has no such block, which may
 * change at any time; `unsupported` when it does not know the tag.
 */
export type FinalizedTag = bigint | 'none' | 'unsupported';

/** The node answered the question for its final block with an error that does not say whether it knows the tag. */
export class TagRefusedError extends NodeFault {
  constructor(message: string) {
    super('refused', message);
    this.name = 'TagRefusedError';
  }
}

// geth says that it has no such block yet; invalid parameters; no such method.
const codes = new Map<number, FinalizedTag>([
  [-39001, 'none'],
  [-32602, 'unsupported'],
  [-32601, 'unsupported'],
]);

/**
 * Asks for the newest block that the chain's consensus has made final. An error means that there is none only by its code:
 * an outage is never taken for an answer, whatever its words.
 * @throws NodesUnavailableError; NodeFault `malformed`; TagRefusedError
 */
export async function askFinalizedTag(node: Node): Promise<FinalizedTag> {
  let block: unknown;
  try {
    block = await node.send('eth_getBlockByNumber', ['finalized', false]);
  } catch (error) {
    const code = nodeErrorCode(error);
    if (code === undefined) throw error;
    return readFinalizedTag({ error: { code, message: nodeMessage(error) } });
  }
  return readFinalizedTag({ result: block });
}

/**
 * Reads one node's own answer to the question for the tag `finalized`, as {@link askFinalizedTag} does.
 * @throws TagRefusedError when the answer is an error that says nothing of it; NodeFault `malformed`
 */
export function readFinalizedTag(answer: RpcAnswer): FinalizedTag {
  if ('error' in answer) {
    const { code, message } = answer.error;
    const tag = codes.get(code);
    if (tag === undefined) throw new TagRefusedError(message);
    return tag;
  }
  if (answer.result === null) return 'none';
  const number = isRecord(answer.result) ? readBlockNumber(answer.result['number']) : undefined;
  if (number === undefined) throw new NodeFault('malformed', 'the finalized block has no number');
  return number;
}

/** The number of the block `depth` below the head; -1n when the chain is not that long. */
export function blockAtDepth(head: bigint, depth: number): bigint {
  const number = head - BigInt(depth);
  return number < 0n ? -1n : number;
}
