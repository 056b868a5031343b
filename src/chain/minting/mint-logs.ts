import { tooWide } from '../rpc/answer.ts';
import { nodeMessage } from '../rpc/node-message.ts';
import { quantity } from '../rpc/quantity.ts';

type Range = { readonly fromBlock: string; readonly toBlock: string };

// Ten thousand blocks, which most nodes allow, this many times: twenty million.
const mostQueries = 2_000;

/**
 * The logs of the newest blocks that have any, on the whole chain: at once where the node allows it, otherwise
 * from the newest blocks downwards, as many at a time as it gives.
 * @param head the newest block
 * @throws Error when that would take too many questions: then nothing is known
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
