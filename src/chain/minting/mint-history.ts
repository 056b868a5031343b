import type { JsonRpcApiProvider } from 'ethers';
import { z } from 'zod';
import { NodesUnavailableError } from '../rpc/transport/node-fault.ts';
import { nodeMessage } from '../rpc/transport/node-message.ts';
import { quantity } from '../rpc/transport/quantity.ts';
import { addressShape, blockNumberShape, wordShape } from './answer-shapes.ts';
import { tooWide } from './log-words.ts';
import { type Mint, mintTopics, readMintLog } from './mint-contract.ts';

/** A token that the chain knows, by the event of its mint. */
export type MintEvent = Mint & {
  /** Of the transaction. */
  readonly hash: string;
  readonly blockNumber: bigint;
};

/** Questions about what a contract has minted. One without an answer rejects. */
export type MintHistory = {
  /** The mints in a range of blocks, both included, in the order of the chain. */
  allMintsIn(contract: string, range: HistoryRange): Promise<readonly MintEvent[]>;
  /** The account that sent a transaction, in EIP-55; null when the node does not know the transaction. */
  senderOf(hash: string): Promise<string | null>;
};

export type HistoryRange = { readonly from: bigint; readonly to: bigint };

/** The mints of a range of blocks. */
export type MintPage = HistoryRange & { readonly mints: readonly MintEvent[] };

const logs = z.array(
  z.object({
    address: z.string(),
    topics: z.array(wordShape),
    transactionHash: wordShape,
    blockNumber: blockNumberShape,
  }),
);
const sender = z.object({ from: addressShape }).nullable();

export function createMintHistory(provider: Pick<JsonRpcApiProvider, 'send'>): MintHistory {
  return {
    async allMintsIn(contract, { from, to }) {
      const range = { fromBlock: quantity(from), toBlock: quantity(to) };
      const answer = await provider.send('eth_getLogs', [
        { address: contract, topics: mintTopics(), ...range },
      ]);
      const mints = logs.parse(answer).flatMap((log) => {
        // What a node adds beside the question is no answer to it.
        const mint = log.blockNumber < from || log.blockNumber > to ? undefined : readMintLog(log, contract);
        return mint ? [{ ...mint, hash: log.transactionHash, blockNumber: log.blockNumber }] : [];
      });
      // Around a reorganisation, a node may tell the same twice.
      return uniqueBy(mints, ({ tokenId, hash, blockNumber }) => `${tokenId} ${hash} ${blockNumber}`);
    },
    async senderOf(hash) {
      return sender.parse(await provider.send('eth_getTransactionByHash', [hash]))?.from ?? null;
    },
  };
}

const uniqueBy = <T>(values: readonly T[], nameOf: (value: T) => string): T[] => [
  ...new Map(values.map((value) => [nameOf(value), value])).values(),
];

// What most hosted nodes allow in one question.
const widest = 10_000n;
// So many mints are compared at once: a page is in memory, and its rows are asked for by one statement.
const mostMints = 2_000;
const outagesInRow = 3;

/**
 * Reads the mints of a range page by page, upwards. Learns how many blocks the node accepts at once: half as many after
 * a refusal or an answer that is too large, some more after each success.
 * @param signal aborts between two pages
 * @throws the node's error when it gives no answer for a single block, or none three times in a row
 */
export async function* mintPages(
  history: Pick<MintHistory, 'allMintsIn'>,
  contract: string,
  { from, to }: HistoryRange,
  signal?: AbortSignal,
): AsyncGenerator<MintPage> {
  let start = from;
  let width = widest;
  let outages = 0;
  while (start <= to) {
    signal?.throwIfAborted();
    const last = start + width - 1n;
    const range = { from: start, to: last < to ? last : to };
    try {
      const mints = await history.allMintsIn(contract, range);
      outages = 0;
      yield { ...range, mints };
      start = range.to + 1n;
      const next = mints.length > mostMints ? width / 2n : width + width / 4n + 1n;
      width = bounded(next);
    } catch (error) {
      const isTooMuch = tooMuch.test(nodeMessage(error));
      const isOutage = !isTooMuch && error instanceof NodesUnavailableError;
      outages += isOutage ? 1 : 0;
      if (outages >= outagesInRow || width === 1n || !(isTooMuch || isOutage)) throw error;
      width = bounded((range.to - range.from + 1n) / 2n);
    }
  }
}

const bounded = (width: bigint) => (width < 1n ? 1n : width > widest ? widest : width);

// The second is what our own client says of an answer that it does not read to its end.
const tooMuch = new RegExp(`${tooWide.source}|is over \\d+ bytes`, 'i');
