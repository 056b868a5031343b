import type { JsonRpcApiProvider } from 'ethers';
import { NodesUnavailableError } from '../../../chain/rpc/node-fault.ts';
import { quantity } from '../../../chain/rpc/quantity.ts';
import type { BlockSource } from '../decode/decode-block.ts';
import { listOf, quantityOf } from '../decode/hex.ts';
import { type RawBlock, type RawReceipt, readBlock, readHeader, readReceipt } from '../decode/raw-block.ts';
import { type BlockTraces, readCallTraces, readFlatTraces } from '../decode/traces.ts';
import type { BlockHeader } from '../domain.ts';
import type { TraceMethod } from '../store/index-store.ts';
import { isMethodMissing, isPruned } from './node-error.ts';

/** What the index asks of a node. Every method rejects when no node answers properly. */
export type NodeBlocks = {
  head(): Promise<bigint>;
  /** The newest block that cannot be replaced, as the node says or by the network's depth; -1 for none. */
  finalized(head: bigint): Promise<bigint>;
  /** @returns undefined for a height that the node does not have */
  headerAt(number: bigint): Promise<BlockHeader | undefined>;
  /** A block with everything that is known of it; undefined for a height that the node does not have. */
  blockAt(number: bigint): Promise<BlockSource | undefined>;
};

type NodeBlocksOptions = {
  readonly node: Pick<JsonRpcApiProvider, 'send'>;
  /** Where the node has no `finalized` tag. */
  readonly finalityDepth: number;
  readonly traceMethod: TraceMethod;
  /** Told of blocks whose inner movements the node cannot tell. */
  readonly onUntraced: (number: bigint, reason: unknown) => void;
};

export function createNodeBlocks({
  node,
  finalityDepth,
  traceMethod,
  onUntraced,
}: NodeBlocksOptions): NodeBlocks {
  // What the node turned out not to offer is not asked for again.
  const lacks = { finalizedTag: false, blockReceipts: false };

  const receiptsOf = async ({ header, transactions }: RawBlock): Promise<RawReceipt[] | undefined> => {
    if (!lacks.blockReceipts) {
      try {
        const answer: unknown = await node.send('eth_getBlockReceipts', [quantity(header.number)]);
        return answer === null ? undefined : listOf(answer, 'receipts').map(readReceipt);
      } catch (error) {
        if (!isMethodMissing(error)) throw error;
        lacks.blockReceipts = true;
      }
    }
    const single = ({ hash }: { hash: string }): Promise<unknown> =>
      node.send('eth_getTransactionReceipt', [hash]);
    const answers = await Promise.all(transactions.map(single));
    return answers.includes(null) ? undefined : answers.map(readReceipt);
  };

  const tracesOf = async ({ header }: RawBlock): Promise<BlockTraces | undefined> => {
    if (traceMethod === 'none') return undefined;
    try {
      if (traceMethod === 'trace')
        return readFlatTraces(await node.send('trace_block', [quantity(header.number)]));
      const options = { tracer: 'callTracer', timeout: '60s' };
      return readCallTraces(await node.send('debug_traceBlockByHash', [header.hash, options]));
    } catch (error) {
      // The movements of the transactions themselves are still known; the state of the index counts such blocks.
      if (!isMethodMissing(error) && !isPruned(error)) throw error;
      onUntraced(header.number, error);
      return undefined;
    }
  };

  const finalizedTag = async (): Promise<bigint | undefined> => {
    if (lacks.finalizedTag) return undefined;
    try {
      const answer: unknown = await node.send('eth_getBlockByNumber', ['finalized', false]);
      return answer === null ? undefined : readHeader(answer).number;
    } catch (error) {
      // Nodes refuse the tag in many words. When none answers at all, that is asked again the next time.
      lacks.finalizedTag = !(error instanceof NodesUnavailableError);
      return undefined;
    }
  };

  return {
    async head() {
      return quantityOf(await node.send('eth_blockNumber', []), 'eth_blockNumber');
    },
    async finalized(head) {
      const tagged = await finalizedTag();
      const byDepth = head - BigInt(finalityDepth);
      return tagged ?? (byDepth < -1n ? -1n : byDepth);
    },
    async headerAt(number) {
      const answer: unknown = await node.send('eth_getBlockByNumber', [quantity(number), false]);
      return answer === null ? undefined : readHeader(answer);
    },
    async blockAt(number) {
      const answer: unknown = await node.send('eth_getBlockByNumber', [quantity(number), true]);
      if (answer === null) return undefined;
      const block = readBlock(answer);
      const [receipts, traces] = await Promise.all([
        block.transactions.length === 0 ? [] : receiptsOf(block),
        block.transactions.length === 0 ? emptyTraces(traceMethod) : tracesOf(block),
      ]);
      return receipts === undefined ? undefined : { block, receipts, traces };
    },
  };
}

/** A block without transactions has no movements, whatever the node can tell. */
function emptyTraces(traceMethod: TraceMethod): BlockTraces | undefined {
  return traceMethod === 'none' ? undefined : new Map();
}
