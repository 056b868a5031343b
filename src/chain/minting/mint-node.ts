import { getAddress, type JsonRpcApiProvider } from 'ethers';
import { z } from 'zod';
import { isRevert } from '../rpc/contract-call.ts';
import { finalizedBlock } from '../rpc/finalized-block.ts';
import { NodesUnavailableError } from '../rpc/node-fault.ts';
import { nodeMessage } from '../rpc/node-message.ts';
import { quantity } from '../rpc/quantity.ts';
import { type BroadcastFault, broadcastFault } from './broadcast-error.ts';
import { createEvidenceNode, type EvidenceNode } from './evidence-node.ts';
import type { Market } from './fees.ts';
import { encodeMintBatch, type Mint, readMintLog } from './mint-contract.ts';

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
  /** EIP-55. */
  readonly to: string | null;
  /** Recipients by token id, of the tokens that were minted on the contract in question. */
  readonly minted: ReadonlyMap<string, string>;
};

/**
 * The queries of minting to a network's nodes. Each answer comes from one node, which may lag behind or lie. A query
 * without an answer rejects, so that "unknown" is never taken for "no".
 */
export type MintNode = EvidenceNode & {
  head(): Promise<Head>;
  /** The block with this number on the node's chain; null when the chain is not that long. */
  block(number: bigint): Promise<Block | null>;
  /** The newest block that cannot be replaced, as {@link finalizedBlock} finds it; -1n when there is none. */
  finalized(head: Head, finalityDepth: number): Promise<bigint>;
  transactionCount(address: string, at: 'latest' | 'pending' | bigint): Promise<bigint>;
  receipt(hash: string, contract: string): Promise<Receipt | null>;
  balance(address: string): Promise<bigint>;
  market(head: Head): Promise<Market>;
  /** The gas that the mint would use, or why the contract refuses it. */
  estimate(from: string, contract: string, mints: readonly Mint[]): Promise<bigint | { refusal: string }>;
  /** Broadcasts a signed transaction. Rejects when it is unknown whether a node has it. */
  broadcast(raw: string): Promise<'sent' | BroadcastFault>;
};

const hex = z.string().regex(/^0x[0-9a-f]*$/i);
const number = hex.transform((text) => BigInt(text));
const address = z.string().transform((text) => getAddress(text));
const blockShape = z.object({
  number,
  hash: hex,
  parentHash: hex,
  timestamp: number.transform((seconds) => new Date(Number(seconds) * 1_000)),
  baseFeePerGas: number.nullish(),
  gasLimit: number,
});
const receiptShape = z.object({
  transactionHash: hex,
  blockNumber: number,
  blockHash: hex,
  status: number,
  to: address.nullable(),
  logs: z.array(z.object({ address: z.string(), topics: z.array(hex) })),
});

export function createMintNode(provider: JsonRpcApiProvider): MintNode {
  const ask = async <T>(shape: z.ZodType<T>, method: string, params: unknown[]): Promise<T> =>
    shape.parse(await provider.send(method, params));
  const blockAt = async (at: string) => {
    const found = await ask(blockShape.nullable(), 'eth_getBlockByNumber', [at, false]);
    return found && { ...found, time: found.timestamp, baseFee: found.baseFeePerGas ?? null };
  };

  return {
    ...createEvidenceNode(provider),
    async head() {
      const head = await blockAt('latest');
      if (head === null) throw new Error('The node has no newest block.');
      return head;
    },
    block: (at) => blockAt(quantity(at)),
    finalized: (head, depth) => finalizedBlock(provider, head.number, depth),
    transactionCount: (account, at) =>
      ask(number, 'eth_getTransactionCount', [account, typeof at === 'bigint' ? quantity(at) : at]),
    async receipt(hash, contract) {
      const found = await ask(receiptShape.nullable(), 'eth_getTransactionReceipt', [hash]);
      return found && toReceipt(found, contract);
    },
    balance: (account) => ask(number, 'eth_getBalance', [account, 'latest']),
    async market({ baseFee }) {
      const method = baseFee === null ? 'eth_gasPrice' : 'eth_maxPriorityFeePerGas';
      return { baseFee, suggested: await ask(number, method, []) };
    },
    async estimate(from, contract, mints) {
      try {
        return await ask(number, 'eth_estimateGas', [{ from, to: contract, data: encodeMintBatch(mints) }]);
      } catch (error) {
        if (isRevert(error)) return { refusal: error.shortMessage };
        throw error;
      }
    },
    broadcast: (raw) => broadcast(provider, raw),
  };
}

async function broadcast(provider: JsonRpcApiProvider, raw: string): Promise<'sent' | BroadcastFault> {
  try {
    await provider.send('eth_sendRawTransaction', [raw]);
    return 'sent';
  } catch (error) {
    const fault = broadcastFault(nodeMessage(error));
    if (fault === 'refused' && error instanceof NodesUnavailableError) throw error;
    return fault;
  }
}

function toReceipt(found: z.output<typeof receiptShape>, contract: string): Receipt {
  const mints = found.logs.flatMap((log) => readMintLog(log, contract) ?? []);
  return {
    hash: found.transactionHash,
    blockNumber: found.blockNumber,
    blockHash: found.blockHash,
    succeeded: found.status === 1n,
    to: found.to,
    minted: new Map(mints.map(({ tokenId, recipient }) => [tokenId, recipient])),
  };
}
