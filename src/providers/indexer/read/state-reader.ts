import { createFlightCache } from '../../../base/cache/flight-cache.ts';
import type { Network } from '../../../chain/rpc/client/network.ts';
import type { RpcClients } from '../../../chain/rpc/client/rpc-clients.ts';
import { NodeFault } from '../../../chain/rpc/transport/node-fault.ts';
import { quantity } from '../../../chain/rpc/transport/quantity.ts';
import { firstWord } from '../../../chain/words.ts';
import { type ContractCalls, createContractCalls } from '../tokens/contract-calls.ts';
import type { BatchedCall } from '../tokens/multicall.ts';

/** A block of the index; its hash names the branch. */
type StateBlock = {
  readonly network: Network;
  readonly blockNumber: bigint;
  readonly blockHash: string;
};

/** Null where the contract failed; undefined where nodes do not answer its call, though they answer others. */
export type StateAnswer = string | null | undefined;

/** Asks nodes for the state after blocks of the index. Every method rejects when no node has it. */
export type StateReader = {
  /**
   * Calls contracts, all after the same block. The first word of each answer is kept for a minute.
   * @param key separates these calls from others after the same block
   * @returns the first 32 bytes of each answer in hex, or as many as there are
   */
  call(at: StateBlock, key: string, calls: readonly BatchedCall[]): Promise<StateAnswer[]>;
  /**
   * The native balance of an account after a block.
   * @param at without a hash, whatever block the node has at this number
   */
  balance(
    at: Omit<StateBlock, 'blockHash'> & { readonly blockHash: string | undefined },
    account: string,
  ): Promise<{ readonly balance: bigint; readonly blockHash: string }>;
  /** The native balance after a block that the index need not have; undefined where no node has its state. */
  balanceBefore(network: Network, account: string, block: bigint): Promise<bigint | undefined>;
  close(): void;
};

const keptSeconds = 60;
/** Of the cache, where nobody else says. */
const usualBytes = 16 * 1024 * 1024;

/** A word in hex is a text of 66 characters. */
const bytesOf = (answers: readonly StateAnswer[]) => 100 * answers.length;

const wordOrNull = (answer: string | undefined) => firstWord(answer) ?? null;

type StateReaderOptions = { readonly clients: Pick<RpcClients, 'for'>; readonly cacheBytes?: number };

export function createStateReader({ clients, cacheBytes = usualBytes }: StateReaderOptions): StateReader {
  const cache = createFlightCache<StateAnswer[]>({ maxBytes: cacheBytes, bytesOf });
  const callers = new WeakMap<Network, ContractCalls>();

  const callerOf = (network: Network) => {
    const known = callers.get(network) ?? createContractCalls({ node: clients.for(network) });
    callers.set(network, known);
    return known;
  };

  const balanceAt = async (network: Network, account: string, block: bigint) =>
    BigInt(await clients.for(network).send('eth_getBalance', [account, quantity(block)]));

  /**
   * The answer counts only where the node has our block at this number, because the node may be in another branch.
   */
  const inBranch = async <T>(
    { network, blockNumber, blockHash }: Parameters<StateReader['balance']>[0],
    asked: Promise<T>,
  ) => {
    const header = clients.for(network).send('eth_getBlockByNumber', [quantity(blockNumber), false]);
    const [answer, block] = await Promise.all([asked, header]);
    const found = String(block?.hash).toLowerCase();
    if (!/^0x[0-9a-f]{64}$/.test(found) || (blockHash !== undefined && found !== blockHash)) {
      throw new NodeFault('malformed', `no node has the block ${blockNumber} of the index`);
    }
    return { answer, blockHash: found };
  };

  return {
    call: (at, key, calls) =>
      cache.get(`${at.network.chainId}:${at.blockHash}:${key}`, async () => ({
        value: (await inBranch(at, callerOf(at.network).readMany(calls, wordOrNull, at.blockNumber))).answer,
        ttlSeconds: keptSeconds,
      })),
    async balance(at, account) {
      const { answer, blockHash } = await inBranch(at, balanceAt(at.network, account, at.blockNumber));
      return { balance: answer, blockHash };
    },
    balanceBefore: (network, account, block) => balanceAt(network, account, block).catch(() => undefined),
    close: () => cache.close(),
  };
}
