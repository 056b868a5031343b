import { isLimitCode, isRecord } from './answer.ts';
import { askQuantity } from './chain-id.ts';
import { type FinalizedTag, readFinalizedTag, TagRefusedError } from './finalized-block.ts';
import { NodeFault } from './node-fault.ts';
import { readBlockNumber, readBlockTime } from './quantity.ts';
import type { Transport } from './transport.ts';

/** A block as a node has it on its chain. */
export type BlockId = { readonly number: bigint; readonly hash: string };
export type HeadBlock = BlockId & {
  readonly time: Date;
  /** The block as the node wrote it, so that nobody asks for it again. */
  readonly raw: unknown;
};

/** What one poll of a node shows. */
export type Sight =
  | {
      readonly kind: 'seen';
      readonly head: HeadBlock;
      /** `unknown` when the node failed to say, `refused` when it answered with an error that says nothing. */
      readonly finalized: FinalizedTag | 'unknown' | 'refused';
    }
  | { readonly kind: 'foreign'; readonly servedChainId: bigint }
  | { readonly kind: 'failed'; readonly fault: NodeFault };

type LookOptions = {
  readonly chainId: string;
  readonly timeoutMs: number;
  /** False leaves the question for the final block out; it is `unknown` then. */
  readonly asksFinalized: boolean;
  /** False leaves out the question for the chain id, which is known to be right. */
  readonly asksChainId: boolean;
};

const maxBytes = 2 * 1024 * 1024;

/** Polls one node with up to three questions at once: chain id, newest block, newest final block. Never rejects. */
export async function lookAtNode(node: Transport, options: LookOptions): Promise<Sight> {
  const { chainId, timeoutMs, asksFinalized, asksChainId } = options;
  try {
    const [served, head, finalized] = await Promise.all([
      asksChainId ? askQuantity(node, 'eth_chainId', timeoutMs) : BigInt(chainId),
      // A foreign chain may write its blocks in another way: the chain id is judged first.
      settled(askBlock(node, 'latest', timeoutMs)),
      asksFinalized ? askFinalized(node, timeoutMs) : ('unknown' as const),
    ]);
    if (served !== BigInt(chainId)) return { kind: 'foreign', servedChainId: served };
    if (head instanceof NodeFault) return { kind: 'failed', fault: head };
    if (head === null) return { kind: 'failed', fault: new NodeFault('malformed', 'it has no newest block') };
    return { kind: 'seen', head, finalized };
  } catch (error) {
    return { kind: 'failed', fault: asFault(error) };
  }
}

/** The block with this number or tag on the node's chain; null when the node has none. @throws NodeFault */
export async function askBlock(node: Transport, at: string, timeoutMs: number): Promise<HeadBlock | null> {
  const answer = await node.ask('eth_getBlockByNumber', [at, false], {
    timeoutMs,
    maxBytes,
    isPatient: true,
  });
  if ('error' in answer) {
    const { code, message } = answer.error;
    throw new NodeFault(isLimitCode(code) ? 'limited' : 'refused', `eth_getBlockByNumber: ${message}`);
  }
  return answer.result === null ? null : readBlock(answer.result);
}

async function askFinalized(
  node: Transport,
  timeoutMs: number,
): Promise<FinalizedTag | 'unknown' | 'refused'> {
  try {
    const answer = await node.ask('eth_getBlockByNumber', ['finalized', false], {
      timeoutMs,
      maxBytes,
      isPatient: true,
      isSpecial: true,
    });
    if ('error' in answer && isLimitCode(answer.error.code)) return 'unknown';
    return readFinalizedTag(answer);
  } catch (error) {
    if (error instanceof TagRefusedError) return 'refused';
    // That a node cannot say what is final does not take it out of service: it only has no vote.
    return 'unknown';
  }
}

function readBlock(block: unknown): HeadBlock {
  const number = isRecord(block) ? readBlockNumber(block['number']) : undefined;
  const time = isRecord(block) ? readBlockTime(block['timestamp']) : undefined;
  const hash = isRecord(block) ? block['hash'] : undefined;
  if (number === undefined || time === undefined || typeof hash !== 'string') {
    throw new NodeFault('malformed', 'a block has no number, hash or time');
  }
  return { number, hash: hash.toLowerCase(), time, raw: block };
}

const settled = (asked: Promise<HeadBlock | null>): Promise<HeadBlock | null | NodeFault> =>
  asked.catch(asFault);

/** The fault of a node that did not answer as it should. @throws what is no fault of a node */
function asFault(error: unknown): NodeFault {
  if (error instanceof NodeFault) return error;
  throw error;
}
