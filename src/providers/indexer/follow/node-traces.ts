import type { JsonRpcApiProvider } from 'ethers';
import { lacksData, lacksMethod } from '../../../chain/rpc/transport/answer.ts';
import { quantity } from '../../../chain/rpc/transport/quantity.ts';
import type { BlockSource } from '../decode/decode-block.ts';
import type { RawBlock } from '../decode/raw-block.ts';
import { missingTraces, readCallTraces, readFlatTraces } from '../decode/traces.ts';
import type { TraceMethod } from '../store/write/index-state-store.ts';
import { isLate, isSaidByAll, isSaidBySome, isTooLarge } from './node-error.ts';

type TraceOptions = {
  readonly node: Pick<JsonRpcApiProvider, 'send'>;
  readonly traceMethod: TraceMethod;
  /** Time for one answer of a node. */
  readonly timeoutMs: number;
  /** Called with blocks that are read without their traces, or without some of them. */
  readonly onUntraced: (number: bigint, reason: unknown) => void;
  /** A monotonic clock in milliseconds. */
  readonly now: () => number;
};

// As long as a node needs to start anew. What was indexed without traces stays so.
const outageMs = 60_000;

/**
 * Reads the traces of a block. Without them the values of the transactions themselves are still known, and the state of
 * the index counts such blocks. A block goes without:
 * - where no node has them, or they are larger than anybody reads: whoever fills a block must not stop an index;
 * - where they did not come in time, or are too large at a node while others are out, at the last try;
 * - where a node has none and the others are out, once none has given any for a minute.
 *
 * The reader rejects for any other failure.
 */
export function createTraceReader({ node, traceMethod, timeoutMs, onUntraced, now }: TraceOptions) {
  let outSince: number | undefined;

  // Less than the node has, so that the trace of one transaction that takes too long does not cost those of the others.
  const tracer = { tracer: 'callTracer', timeout: `${Math.max(1, Math.floor((timeoutMs * 0.8) / 1_000))}s` };
  const ask = ({ header }: RawBlock): Promise<unknown> =>
    traceMethod === 'trace'
      ? node.send('trace_block', [quantity(header.number)])
      : node.send('debug_traceBlockByHash', [header.hash, tracer]);

  const isGivenUp = (error: unknown, isLastTry: boolean): boolean => {
    if (isSaidByAll(error, lacksMethod, lacksData, isTooLarge)) {
      outSince = undefined;
      return true;
    }
    if (isSaidBySome(error, isLate, isTooLarge)) return isLastTry;
    if (!isSaidBySome(error, lacksMethod, lacksData)) return false;
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
      const missing = missingTraces(answer);
      if (missing !== undefined) onUntraced(number, missing);
      const traces = traceMethod === 'trace' ? readFlatTraces(answer, hash) : readCallTraces(answer);
      return { traces, partlyTraced: missing !== undefined };
    } catch (error) {
      if (!isGivenUp(error, isLastTry)) throw error;
      onUntraced(number, error);
      return { traces: undefined };
    }
  };
}
