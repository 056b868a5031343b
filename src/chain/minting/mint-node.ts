import type { JsonRpcApiProvider } from 'ethers';
import { z } from 'zod';
import { isRevert } from '../rpc/client/contract-call.ts';
import type { PinnedNode } from '../rpc/pool/pinned-node.ts';
import { NodeFault } from '../rpc/transport/node-fault.ts';
import { quantity } from '../rpc/transport/quantity.ts';
import { addressShape, blockNumberShape, blockTimeShape, quantityShape, wordShape } from './answer-shapes.ts';
import { type BroadcastAnswer, type BroadcastOptions, broadcastToAll } from './broadcast-to-all.ts';
import { createEvidenceNode, type EvidenceNode } from './evidence-node.ts';
import type { Fees, Market } from './fees.ts';
import { readMintLog, readRevert } from './mint-contract.ts';
import { suggestedTip } from './suggested-tip.ts';

export type Block = {
  readonly number: bigint;
  readonly hash: string;
  readonly parentHash: string;
  readonly time: Date;
};
export type Head = Block & { readonly baseFee: bigint | null; readonly gasLimit: bigint };

export type Receipt = {
  readonly hash: string;
  readonly blockNumber: bigint;
  readonly blockHash: string;
  readonly succeeded: boolean;
  /** Null when the node does not say it. */
  readonly gasUsed: bigint | null;
  /** What it cost, in wei; null when the node does not say its price. */
  readonly cost: bigint | null;
  /** EIP-55. */
  readonly to: string | null;
  /** Recipients by token id, of the tokens that were minted on the contract in question. */
  readonly minted: ReadonlyMap<string, string>;
};

/**
 * The queries of minting to a network's nodes. Of a pinned node, all answers come from that one node, which may lag
 * behind or lie. A query without an answer rejects, so that "unknown" is never taken for "no".
 */
export type MintNode = EvidenceNode & {
  /** The newest block. Of a pinned node, the block that it had when the pool compared all nodes. */
  head(): Promise<Head>;
  /** The block with this number on the node's chain; null when the chain is not that long. */
  block(number: bigint): Promise<Block | null>;
  /** The newest block that cannot be replaced, as enough nodes agree; -1n when there is none, or the node is not pinned. */
  readonly finalized: bigint;
  /** At a block before the first, such as the -1n of {@link finalized}, there are none. */
  transactionCount(address: string, at: 'latest' | bigint): Promise<bigint>;
  receipt(hash: string, contract: string): Promise<Receipt | null>;
  balance(address: string): Promise<bigint>;
  market(head: Head): Promise<Market>;
  /**
   * The gas that a call would use, or why the contract rejects it.
   * @param data of the call
   * @param fees at which it is to be signed: contracts may read them, and nodes may check whether the sender can pay
   */
  estimate(from: string, contract: string, data: string, fees?: Fees): Promise<bigint | { refusal: string }>;
  /**
   * Broadcasts a signed transaction, to every node at once when this one is pinned. Rejects when it is unknown
   * whether a node has it.
   */
  broadcast(raw: string, options?: BroadcastOptions): Promise<BroadcastAnswer>;
  /** The id of the chain that the node serves, asked each time. */
  chainId(): Promise<bigint>;
  /** Of a pinned node: has the pool choose another node next, which may have what this one lacks. */
  preferOthers(): void;
};

// No account has sent so many, and no column stores more.
const mostTransactions = 2n ** 53n;
const countShape = quantityShape.refine((count) => count < mostTransactions);
const blockShape = z.object({
  number: blockNumberShape,
  hash: wordShape,
  parentHash: wordShape,
  timestamp: blockTimeShape,
  baseFeePerGas: quantityShape.nullish(),
  gasLimit: quantityShape,
});
const receiptShape = z.object({
  transactionHash: wordShape,
  blockNumber: blockNumberShape,
  blockHash: wordShape,
  status: quantityShape,
  gasUsed: quantityShape.nullish(),
  effectiveGasPrice: quantityShape.nullish(),
  to: addressShape.nullable(),
  logs: z.array(z.object({ address: z.string(), topics: z.array(wordShape) })),
});

type Pinned = Pick<PinnedNode, 'headBlock' | 'finalized' | 'broadcasters' | 'preferOthers'>;

/** @param pinned what the comparison of all nodes has shown, when the provider asks a pinned node only */
export function createMintNode(provider: JsonRpcApiProvider, pinned?: Pinned): MintNode {
  const ask = async <T>(shape: z.ZodType<T>, method: string, params: unknown[]): Promise<T> =>
    shape.parse(await provider.send(method, params));
  const blockAt = async (at: string) =>
    toBlock(await ask(blockShape.nullable(), 'eth_getBlockByNumber', [at, false]));
  const broadcasters = pinned?.broadcasters ?? [{ provider, isWaitedFor: true }];

  return {
    ...createEvidenceNode(provider),
    async head() {
      const head = pinned ? toBlock(blockShape.parse(pinned.headBlock)) : await blockAt('latest');
      if (head === null) throw new Error('The node has no newest block.');
      return head;
    },
    block: (at) => blockAt(quantity(at)),
    finalized: pinned?.finalized ?? -1n,
    async transactionCount(account, at) {
      if (typeof at !== 'bigint') return ask(countShape, 'eth_getTransactionCount', [account, at]);
      return at < 0n ? 0n : ask(countShape, 'eth_getTransactionCount', [account, quantity(at)]);
    },
    async receipt(hash, contract) {
      const found = await ask(receiptShape.nullable(), 'eth_getTransactionReceipt', [hash]);
      if (found === null) return null;
      // The receipt would be stored as that of our transaction, and none of ours has its hash.
      if (found.transactionHash !== hash.toLowerCase()) {
        throw new NodeFault('malformed', 'eth_getTransactionReceipt answers for another transaction');
      }
      return toReceipt(found, contract);
    },
    balance: (account) => ask(quantityShape, 'eth_getBalance', [account, 'latest']),
    async market({ baseFee }) {
      const suggested = baseFee === null ? ask(quantityShape, 'eth_gasPrice', []) : suggestedTip(provider);
      return { baseFee, suggested: await suggested };
    },
    async estimate(from, contract, data, fees) {
      try {
        return await ask(quantityShape, 'eth_estimateGas', [
          { from, to: contract, data, ...(fees && pricedAt(fees)) },
        ]);
      } catch (error) {
        if (isRevert(error)) return { refusal: readRevert(error.data ?? '0x') ?? error.shortMessage };
        throw error;
      }
    },
    broadcast: (raw, options) => broadcastToAll(broadcasters, raw, options),
    chainId: () => ask(quantityShape, 'eth_chainId', []),
    preferOthers: () => pinned?.preferOthers(),
  };
}

function toBlock<T extends z.output<typeof blockShape> | null>(found: T) {
  return found && { ...found, time: found.timestamp, baseFee: found.baseFeePerGas ?? null };
}

const pricedAt = ({ maxFeePerGas, maxPriorityFeePerGas: tip }: Fees) =>
  tip === null
    ? { gasPrice: quantity(maxFeePerGas) }
    : { maxFeePerGas: quantity(maxFeePerGas), maxPriorityFeePerGas: quantity(tip) };

const costOf = ({ gasUsed, effectiveGasPrice }: z.output<typeof receiptShape>): bigint | null =>
  gasUsed == null || effectiveGasPrice == null ? null : gasUsed * effectiveGasPrice;

function toReceipt(found: z.output<typeof receiptShape>, contract: string): Receipt {
  const mints = found.logs.flatMap((log) => readMintLog(log, contract) ?? []);
  return {
    hash: found.transactionHash,
    blockNumber: found.blockNumber,
    blockHash: found.blockHash,
    succeeded: found.status === 1n,
    gasUsed: found.gasUsed ?? null,
    cost: costOf(found),
    to: found.to,
    minted: new Map(mints.map(({ tokenId, recipient }) => [tokenId, recipient])),
  };
}
