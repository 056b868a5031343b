import type { JsonRpcApiProvider } from 'ethers';
import { quantity } from '../../../chain/rpc/transport/quantity.ts';
import type { BlockSource } from '../decode/decode-block.ts';
import type { BlockHeader } from '../decode/domain.ts';
import { MalformedBlockError } from '../decode/hex.ts';
import type { RawBlock } from '../decode/raw-block.ts';
import { readCallTraces, readFlatTraces } from '../decode/traces.ts';
import type { TraceMethod } from '../store/write/index-state-store.ts';
import { isAtAll, isAtSome, isError, isLate, isTooLarge, isWithoutMethod } from './node-error.ts';

type TraceOptions = {
  readonly node: Pick<JsonRpcApiProvider, 'send'>;
  readonly headerAt: (number: bigint) => Promise<BlockHeader | undefined>;
  readonly traceMethod: TraceMethod;
  /** Time for one answer of a node. */
  readonly timeoutMs: number;
  /** Called with blocks that are read without their traces, or without some traces. */
  readonly onUntraced: (number: bigint, reason: unknown) => void;
  /** A monotonic clock in milliseconds. */
  readonly now: () => number;
};

// As long as a node needs to start again. Blocks that were indexed without traces stay so.
const outageMs = 60_000;
// After so many blocks in a row without traces, no more tries are made.
const refusalsInRow = 3;

/**
 * Reads the traces of a block. Without traces the values of the transactions themselves are still known, and the
 * state of the index counts such blocks. A block goes without traces in three cases:
 * - No node has the method, or all traces are larger than the limit. A large block must not stop an index.
 * - At the last try nodes answer with errors, too late, or with too much.
 * - A node answers with an error and the others are out, after a minute without any traces.
 * The reader rejects for any other failure.
 */
export function createTraceReader({ node, headerAt, traceMethod, timeoutMs, onUntraced, now }: TraceOptions) {
  let outSince: number | undefined;
  let refusals = 0;
  let byNumber = false;

  // Shorter than the node's own limit, so that one slow transaction does not cost the traces of the others.
  const tracer = { tracer: 'callTracer', timeout: `${Math.max(1, Math.floor((timeoutMs * 0.8) / 1_000))}s` };
  const askByNumber = async ({ header }: RawBlock): Promise<unknown> => {
    const answer: unknown = await node.send('debug_traceBlockByNumber', [quantity(header.number), tracer]);
    // The number does not say which branch was traced.
    if ((await headerAt(header.number))?.hash !== header.hash)
      throw new MalformedBlockError(`block ${header.number} of the traces`, 'replaced');
    return answer;
  };
  const ask = async (block: RawBlock): Promise<unknown> => {
    const { number, hash } = block.header;
    if (traceMethod === 'trace') return node.send('trace_block', [quantity(number)]);
    if (byNumber) return askByNumber(block);
    try {
      return await node.send('debug_traceBlockByHash', [hash, tracer]);
    } catch (error) {
      if (!isAtAll(error, isError)) throw error;
      const answer = await askByNumber(block).catch(() => {
        throw error;
      });
      byNumber = isAtAll(error, isWithoutMethod);
      return answer;
    }
  };

  const isGivenUp = (error: unknown, isLastTry: boolean): boolean => {
    // An unreadable answer must not stop an index.
    if (error instanceof MalformedBlockError) return isLastTry;
    if (isAtAll(error, isError, isTooLarge)) {
      outSince = undefined;
      const isForGood = isAtAll(error, isWithoutMethod, isTooLarge) || refusals >= refusalsInRow;
      if (isForGood || isLastTry) refusals += 1;
      return isForGood || isLastTry;
    }
    if (isAtSome(error, isLate, isTooLarge)) return isLastTry;
    if (!isAtSome(error, isError)) return false;
    outSince ??= now();
    return now() - outSince >= outageMs;
  };

  return async (
    block: RawBlock,
    isLastTry: boolean,
  ): Promise<Pick<BlockSource, 'traces' | 'partlyTraced'>> => {
    if (traceMethod === 'none') return { traces: undefined };
    const { number, hash } = block.header;
    try {
      const answer = await ask(block);
      outSince = undefined;
      refusals = 0;
      const { transactions } = block;
      const { traces, missing } =
        traceMethod === 'trace'
          ? readFlatTraces(answer, hash, transactions)
          : readCallTraces(answer, transactions);
      if (missing !== undefined) onUntraced(number, missing);
      return { traces, partlyTraced: missing !== undefined };
    } catch (error) {
      if (!isGivenUp(error, isLastTry)) throw error;
      onUntraced(number, error);
      return { traces: undefined };
    }
  };
}
