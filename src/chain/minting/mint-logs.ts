import { tooWide } from '../rpc/answer.ts';
import { nodeMessage } from '../rpc/node-message.ts';
import { quantity } from '../rpc/quantity.ts';

type Range = { readonly fromBlock: string; readonly toBlock: string };

// With ten thousand blocks per query, which most nodes allow, this covers twenty million blocks.
const mostQueries = 2_000;

/**
 * Searches the whole chain for the logs of the newest blocks that have any: in one query where the node allows it,
 * otherwise from the newest blocks downwards, in ranges that the node accepts.
 * @param ask queries the logs of a range
 * @param head returns the number of the newest block
 * @throws Error when the search would take too many queries; the outcome is then unknown
 */
export async function searchLogs<Log>(
  ask: (range: Range) => Promise<readonly Log[]>,
  head: () => Promise<bigint>,
): Promise<readonly Log[]> {
  try {
    return await ask({ fromBlock: '0x0', toBlock: 'latest' });
  } catch (error) {
    if (!isTooWide(error)) throw error;
  }
  let to = await head();
  let width = to + 1n;
  for (let queries = 0; queries < mostQueries; queries += 1) {
    const from = to < width ? 0n : to - width + 1n;
    try {
      const logs = await ask({ fromBlock: quantity(from), toBlock: quantity(to) });
      if (logs.length > 0 || from === 0n) return logs;
      to = from - 1n;
    } catch (error) {
      if (!isTooWide(error) || width === 1n) throw error;
      width /= 2n;
    }
  }
  throw new Error(`The node gives logs of ${width} blocks at once: too few to search the chain.`);
}

const isTooWide = (error: unknown) => tooWide.test(nodeMessage(error));
