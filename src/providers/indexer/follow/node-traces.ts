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
  /** Called with blocks that are read without their traces, or without some of them. */
  readonly onUntraced: (number: bigint, reason: unknown) => void;
  /** A monotonic clock in milliseconds. */
  readonly now: () => number;
};

// As long as a node needs to start again. What was indexed without traces stays so.
const outageMs = 60_000;
// After so many blocks in a row that no node traces, none is worth another try.
const refusalsInRow = 3;

/**
 * Reads the traces of a block. Without them the values of the transactions themselves are still known, and the state of
 * the index counts such blocks. A block goes without:
 * - where no node has the method, or all that is in it is larger than anybody reads: whoever fills a block must not stop an index;
 * - where nodes answer with errors, or not in time, or with too much, at the last try;
 * - where a node answers with an error and the others are out, once none has given any for a minute.
 *
 * The reader rejects for any other failure.
 */
export function createTraceReader({ node, headerAt, traceMethod, timeoutMs, onUntraced, now }: TraceOptions) {
  let outSince: number | undefined;
  let refusals = 0;
  let byNumber = false;

  // Less than the node has, so that the trace of one transaction that takes too long does not cost those of the others.
  const tracer = { tracer: 'callTracer', timeout: `${Math.max(1, Math.floor((timeoutMs * 0.8) / 1_000))}s` };
  const askByNumber = async ({ header }: RawBlock): Promise<unknown> => {
    const answer: unknown = await node.send('debug_traceBlockByNumber', [quantity(header.number), tracer]);
    // The number says nothing of the branch.
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
    // What nobody can read must not stop an index.
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
