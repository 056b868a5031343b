import { type FaultReason, NodesUnavailableError } from '../rpc/transport/node-fault.ts';
import { nodeErrorCode } from '../rpc/transport/node-message.ts';

/** Blocks from one to another, both included. */
export type BlockRange = { readonly from: bigint; readonly to: bigint };

/** How many blocks are asked for at once, as far as nodes have given so many. */
export type LogWidth = {
  blocks: bigint;
  /** How many were given last; 0 when that is not known, or so many were not given again. */
  given: bigint;
  /** For how many parts no more are asked for. */
  steadyFor: number;
};

// What most hosted nodes give.
const usual = 10_000n;
// So many logs are read at once: those of a part are in memory.
const mostLogs = 2_000;
const outagesInRow = 3;
// Another node may give more, and so may the same node for other blocks.
const steadyParts = 16;

export const createLogWidth = (): LogWidth => ({ blocks: usual, given: 0n, steadyFor: 0 });

/**
 * Scans a range of blocks part by part. After a failure, whatever the words of the node, it asks for as many blocks as were given
 * last, or for half as many, and later for some more after each success. To resume a scan, begin with the blocks that are left.
 * @param ask asks for the logs of a part; it may pace the scan by an error of its own, which ends the scan
 * @param end the end of the range that is scanned first
 * @throws what `ask` throws for a single block, or when no node can be reached three times in a row
 */
export async function* scanLogs<Log>(
  ask: (part: BlockRange) => Promise<readonly Log[]>,
  range: BlockRange,
  width: LogWidth = createLogWidth(),
  end: 'from' | 'to' = 'from',
): AsyncGenerator<BlockRange & { readonly logs: readonly Log[] }> {
  let { from, to } = range;
  let outages = 0;
  while (from <= to) {
    const size = width.blocks < to - from + 1n ? width.blocks : to - from + 1n;
    const part = end === 'from' ? { from, to: from + size - 1n } : { from: to - size + 1n, to };
    let logs: readonly Log[];
    try {
      logs = await ask(part);
    } catch (error) {
      if (isOfNodes(error) && !isAnswered(error) && ++outages < outagesInRow) continue;
      if (size === 1n || !isAnswered(error)) throw error;
      width.blocks = width.given > 0n && width.given < size ? width.given : size / 2n;
      if (width.blocks !== width.given) width.given = 0n;
      width.steadyFor = steadyParts;
      continue;
    }
    outages = 0;
    if (logs.length > mostLogs) width.blocks = size / 2n + 1n;
    else if (size === width.blocks) {
      width.given = size;
      if (width.steadyFor > 0) width.steadyFor -= 1;
      else width.blocks += size / 4n + 1n;
    }
    if (end === 'from') from = part.to + 1n;
    else to = part.from - 1n;
    yield { ...part, logs };
  }
}

const isOfNodes = (error: unknown): error is NodesUnavailableError => error instanceof NodesUnavailableError;

// A smaller question may well be answered.
const tooMuch: readonly (FaultReason | undefined)[] = ['timeout', 'oversized', 'malformed'];

/** Whether a node is there, though it does not give what was asked for. */
export function isAnswered(error: unknown): boolean {
  if (!isOfNodes(error)) return nodeErrorCode(error) !== undefined;
  return error.attempts.some(({ code, reason }) => code !== undefined || tooMuch.includes(reason));
}

/** Whether a node answered with an error: of the logs of a single block, it does not give them. */
export const isErrorOfNode = (error: unknown): boolean =>
  isOfNodes(error)
    ? error.attempts.some(({ code }) => code !== undefined)
    : nodeErrorCode(error) !== undefined;
