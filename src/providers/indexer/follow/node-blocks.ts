import { setTimeout as wait } from 'node:timers/promises';
import type { JsonRpcApiProvider } from 'ethers';
import {
  askFinalizedTag,
  blockAtDepth,
  type FinalizedTag,
} from '../../../chain/rpc/transport/finalized-block.ts';
import { quantity } from '../../../chain/rpc/transport/quantity.ts';
import type { BlockSource } from '../decode/decode-block.ts';
import type { BlockHeader } from '../decode/domain.ts';
import { blockNumberOf, MalformedBlockError } from '../decode/hex.ts';
import { type RawBlock, type RawUncle, readBlock, readHeader, readUncle } from '../decode/raw-block.ts';
import type { BlockTraces } from '../decode/traces.ts';
import type { TraceMethod } from '../store/write/index-state-store.ts';
import { createContractCalls } from '../tokens/contract-calls.ts';
import { readDelegations } from './node-delegations.ts';
import { isAtAll, isAtSome, isError, isWithoutMethod } from './node-error.ts';
import { createReceiptReader } from './node-receipts.ts';
import { createTraceReader } from './node-traces.ts';
import { createTokenValues } from './token-values.ts';

/** The queries of the index to a node. Every method but `finalized` rejects when no node gives a valid answer. */
export type NodeBlocks = {
  head(): Promise<bigint>;
  /** Returns the newest block by one question, with the hash that shows whether the block is new. */
  newest(): Promise<NewestBlock>;
  /**
   * Returns the newest block that cannot be replaced: the node's finalized block, or by the network's depth; -1n for
   * none.
   */
  finalized(head: bigint): Promise<bigint>;
  /** @returns undefined for a number that the node does not have, or answers with an error */
  headerAt(number: bigint): Promise<BlockHeader | undefined>;
  /**
   * Returns a block with receipts and traces; undefined for a number that the node does not have.
   * @param isLastTry whether no other try follows, so that the block may go without data that did not arrive in time
   */
  blockAt(number: bigint, isLastTry?: boolean): Promise<BlockSource | undefined>;
};

/** Without a hash where the node has the number, but gives no block that can be read. */
type NewestBlock = { readonly number: bigint; readonly hash?: string };

type NodeBlocksOptions = {
  readonly node: Pick<JsonRpcApiProvider, 'send'>;
  /** The same nodes, with another node first; by default none. */
  readonly others?: readonly Pick<JsonRpcApiProvider, 'send'>[];
  /** Depth of the final block where the node has no `finalized` one. */
  readonly finalityDepth: number;
  readonly traceMethod: TraceMethod;
  /** Time for one answer of a node. */
  readonly timeoutMs: number;
  /** Whether the network pays for uncles, so that they are read. */
  readonly uncles?: boolean;
  /** The contract that logs the native asset, in lower case. */
  readonly nativeAsset?: string | null;
  /** Further contracts that check the signatures of user operations, in lower case. */
  readonly entryPoints?: readonly string[];
  /** Called with blocks whose traces the node does not have. */
  readonly onUntraced: (number: bigint, reason: unknown) => void;
  /** A monotonic clock in milliseconds. */
  readonly now?: () => number;
  readonly pause?: (ms: number) => Promise<unknown>;
};

// A node has the receipts of older blocks. So an index that is behind does not read filters.
const freshBlocks = 64n;

export function createNodeBlocks(options: NodeBlocksOptions): NodeBlocks {
  const { node, others = [], finalityDepth, traceMethod, now = () => performance.now() } = options;
  const { pause = (ms) => wait(ms) } = options;
  let newestSeen = 0n;
  const headerAt = async (number: bigint) => {
    try {
      const answer: unknown = await node.send('eth_getBlockByNumber', [quantity(number), false]);
      if (answer === null) return undefined;
      const header = readHeader(answer);
      // Some nodes answer with the block before, where the height has none.
      return header.number === number ? header : undefined;
    } catch (error) {
      if (isAtAll(error, isError)) return undefined;
      throw error;
    }
  };
  const head = async () => blockNumberOf(await node.send('eth_blockNumber', []), 'eth_blockNumber');
  const isFresh = (number: bigint) => number + freshBlocks > newestSeen;
  const receiptsOf = createReceiptReader({ nodes: [node, ...others], head, headerAt, isFresh, now, pause });
  const tracesOf = createTraceReader({ ...options, headerAt, now });
  const finalizedTag = createFinalizedTag(options);
  const valuesOf = createTokenValues(createContractCalls({ node, now }));
  const { nativeAsset, entryPoints } = options;
  return {
    head,
    async newest() {
      const answer: unknown = await node.send('eth_getBlockByNumber', ['latest', false]);
      try {
        const header = readHeader(answer);
        newestSeen = header.number;
        return header;
      } catch (error) {
        if (!(error instanceof MalformedBlockError)) throw error;
        return { number: await head() };
      }
    },
    headerAt,
    async finalized(head) {
      const tag = await finalizedTag();
      if (typeof tag !== 'bigint') return blockAtDepth(head, finalityDepth);
      // The final block cannot be above the newest block, though it may have been asked a moment later.
      return tag < head ? tag : head;
    },
    async blockAt(number, isLastTry = false) {
      const answer: unknown = await node.send('eth_getBlockByNumber', [quantity(number), true]);
      if (answer === null) return undefined;
      const block = readBlock(answer);
      if (block.header.number !== number) return undefined;
      const uncles = options.uncles === true ? await readUncles(node, block, isLastTry) : undefined;
      if (block.transactions.length === 0)
        return { block, receipts: [], traces: emptyTraces(traceMethod), uncles };
      const [receipts, traces, delegations] = await Promise.all([
        receiptsOf(block, isLastTry),
        tracesOf(block, isLastTry),
        readDelegations(node, block, isLastTry),
      ]);
      if (receipts === undefined) return undefined;
      const values = await valuesOf(block.header, receipts.receipts).catch((error: unknown) => {
        if (isLastTry || isAtAll(error, isError)) return undefined;
        throw error;
      });
      const logSettings = { nativeAsset, entryPoints, values };
      return { block, ...receipts, ...traces, delegations, uncles, logSettings };
    },
  };
}

/** Asks for the finalized block, until the node has shown that it does not know the tag. */
function createFinalizedTag({ node }: Pick<NodeBlocksOptions, 'node'>) {
  let supported = true;
  return async (): Promise<FinalizedTag> => {
    if (!supported) return 'unsupported';
    // Unlike minting, the index uses the network's depth when this question gets no answer. Some nodes always answer
    // the tag with an internal error, and in an outage the next question fails anyway.
    const tag = await askFinalizedTag(node).catch(() => 'none' as const);
    supported = tag !== 'unsupported';
    return tag;
  };
}

/** A block without transactions counts as traced where traces are read at all. */
function emptyTraces(traceMethod: TraceMethod): BlockTraces | undefined {
  return traceMethod === 'none' ? undefined : new Map();
}

/** Returns the uncles that a block of proof of work names. @returns undefined where the node lacks an uncle */
async function readUncles(
  node: NodeBlocksOptions['node'],
  { header, difficulty = 0n, uncleCount = 0 }: RawBlock,
  isLastTry: boolean,
): Promise<readonly RawUncle[] | undefined> {
  if (difficulty === 0n || uncleCount === 0) return [];
  const places = Array.from({ length: uncleCount }, (_, place) => BigInt(place));
  try {
    const answers: unknown[] = await Promise.all(
      places.map((place) => node.send('eth_getUncleByBlockHashAndIndex', [header.hash, quantity(place)])),
    );
    return answers.some((answer) => answer === null) ? undefined : answers.map(readUncle);
  } catch (error) {
    if (isAtAll(error, isWithoutMethod) || (isLastTry && isAtSome(error, isError))) return undefined;
    throw error;
  }
}
